-- The server's side of the engine "luanti" (see _luanti.py): it answers questions about the world.
--
-- Each line on standard input is a question in JSON, each line on standard output that begins with PREFIX the answer.
-- The server stands still until it is asked, and only goes on to generate what it was asked for. Where the other side
-- ends, standard input does, and the server stops.
--
-- Places are Luanti's: y upwards, z to the north, and a node's middle at whole numbers.

local PREFIX = "waybench "
local DO = {}

local function say(answer)
	io.write(PREFIX, minetest.write_json(answer), "\n")
	io.flush()
end

-- The noise of mapgen v7, by the parameters that the map generator itself reads.
local base, alternative, persistence, selection, mountain_height, mountain
local WATER = 1

local function noise(name)
	return minetest.get_perlin(minetest.get_mapgen_setting_noiseparams("mgv7_np_" .. name))
end

local function prepare()
	base = minetest.get_mapgen_setting_noiseparams("mgv7_np_terrain_base")
	alternative = minetest.get_mapgen_setting_noiseparams("mgv7_np_terrain_alt")
	persistence, selection = noise("terrain_persist"), noise("height_select")
	mountain_height, mountain = noise("mount_height"), noise("mountain")
end

-- The level of the highest node of stone or soil of a column, as mapgen v7 computes it.
local function surface(x, z)
	local at = {x = x, y = z}
	local persist = persistence:get_2d(at)
	base.persistence, alternative.persistence = persist, persist
	local low, high = minetest.get_perlin(base):get_2d(at), minetest.get_perlin(alternative):get_2d(at)
	local level = high
	if high <= low then
		local share = math.max(0, math.min(1, selection:get_2d(at)))
		level = low * share + high * (1 - share)
	end
	local y = level < 0 and math.ceil(level) or math.floor(level) -- as C++ casts
	local steep = math.max(mountain_height:get_2d(at), 1)
	for above = y + 1, y + 256 do
		if mountain:get_3d({x = x, y = above, z = z}) < above / steep then
			break
		end
		y = above
	end
	return y
end

-- For each column of a grid: the level of its surface and the number of its biome at the surface or on the water.
function DO.columns(asked)
	local levels, biomes = {}, {}
	for i = 0, asked.wide - 1 do
		for j = 0, asked.deep - 1 do
			local x, z = asked.x + i * asked.step, asked.z - j * asked.step
			local y = surface(x, z)
			levels[#levels + 1] = y
			biomes[#biomes + 1] = minetest.get_biome_data({x = x, y = math.max(y, WATER), z = z}).biome
		end
	end
	return {levels = levels, biomes = biomes}
end

-- What there is to know of the world once: its nodes and biomes by number, and its version.
function DO.hello()
	local nodes, biomes = {}, {}
	for name, node in pairs(minetest.registered_nodes) do
		local kind = node.drawtype == "airlike" and "air" or "thin"
		if node.liquidtype and node.liquidtype ~= "none" then
			kind = "liquid"
		elseif kind ~= "air" and node.walkable ~= false and node.drawtype ~= "nodebox" then
			kind = "solid"
		end
		nodes[#nodes + 1] = {minetest.get_content_id(name), name, kind}
	end
	for name in pairs(minetest.registered_biomes) do
		biomes[#biomes + 1] = {minetest.get_biome_id(name), name}
	end
	return {version = minetest.get_version(), nodes = nodes, biomes = biomes}
end

-- The nodes of a box, x first, then y, then z, as runs: number, count, number, count, and so on.
function DO.box(asked)
	local vm = minetest.get_voxel_manip()
	local low, high = vm:read_from_map(asked.from, asked.to)
	local area = VoxelArea:new({MinEdge = low, MaxEdge = high})
	local data, runs, last, count = vm:get_data(), {}, nil, 0
	for z = asked.to.z, asked.from.z, -1 do
		for y = asked.from.y, asked.to.y do
			local index = area:index(asked.from.x, y, z)
			for i = index, index + asked.to.x - asked.from.x do
				if data[i] == last then
					count = count + 1
				else
					if last then
						runs[#runs + 1], runs[#runs + 2] = last, count
					end
					last, count = data[i], 1
				end
			end
		end
	end
	runs[#runs + 1], runs[#runs + 2] = last, count
	return {runs = runs}
end

-- What each ray from a place hits: the number of the node and how far it is; air and the ray's length for nothing.
-- Under water rays pass through it, and everywhere through the node in which they begin.
function DO.rays(asked)
	local eye = asked.eye
	minetest.load_area(asked.from, asked.to)
	local inside = vector.round(eye)
	local node = minetest.registered_nodes[minetest.get_node(inside).name]
	local dry = not node or not node.liquidtype or node.liquidtype == "none"
	local nodes, distances = {}, {}
	for number, ray in ipairs(asked.rays) do
		local to = {x = eye.x + ray[1] * ray[4], y = eye.y + ray[2] * ray[4], z = eye.z + ray[3] * ray[4]}
		local ray_hits = minetest.raycast(eye, to, false, dry)
		local hit = ray_hits()
		if hit and vector.equals(hit.under, inside) then
			hit = ray_hits()
		end
		nodes[number] = hit and minetest.get_content_id(minetest.get_node(hit.under).name) or minetest.CONTENT_AIR
		distances[number] = hit and vector.distance(eye, hit.intersection_point) or ray[4]
	end
	return {nodes = nodes, distances = distances}
end

-- Generate chunks in their order, each by a place in it. The answer comes later, when the last one is there.
local PATIENCE = 300 -- seconds; who asked has given up long before
local waiting, deadline = false, 0

function DO.generate(asked)
	waiting, deadline = true, os.time() + PATIENCE
	local function go_on(number)
		local place = asked.places[number]
		if not place then
			waiting = false
			say({made = number - 1})
			return
		end
		minetest.emerge_area(place, place, function(_, action)
			if action == minetest.EMERGE_CANCELLED or action == minetest.EMERGE_ERRORED then
				waiting = false
				say({error = "the chunk at " .. minetest.pos_to_string(place) .. " could not be generated"})
			else
				go_on(number + 1)
			end
		end)
	end
	go_on(1)
end

minetest.register_globalstep(function()
	if waiting and os.time() > deadline then
		minetest.request_shutdown()
		return
	end
	while not waiting do
		local line = io.read("*l")
		if not line then
			minetest.request_shutdown()
			return
		end
		local done, answer = pcall(function()
			local asked = minetest.parse_json(line)
			return DO[asked["do"]](asked)
		end)
		if not done then
			waiting = false
			say({error = tostring(answer)})
		elseif answer then
			say(answer)
		end
	end
end)

-- The map generator draws from the time of day how it turns a schematic and which of its uncertain nodes it places.
-- So that a seed is one world, each such decoration is replaced by a number of fixed ones, each of them as often.
local VARIANTS = 4
local ALWAYS = 254 -- as probability

local function fixed(schematic, dice)
	for _, node in ipairs(schematic.data) do
		node.prob = dice:next(1, ALWAYS) <= node.prob and ALWAYS or 0
	end
	for _, slice in ipairs(schematic.yslice_prob or {}) do
		slice.prob = dice:next(1, ALWAYS) <= slice.prob and ALWAYS or 0
	end
	return schematic
end

local function variant(decoration, number)
	local copy = table.copy(decoration)
	copy.name = decoration.name and decoration.name .. " " .. number
	copy.schematic = fixed(minetest.read_schematic(decoration.schematic, {}), PcgRandom(number))
	copy.rotation = decoration.rotation == "random" and tostring(90 * (number - 1)) or decoration.rotation
	copy.fill_ratio = decoration.fill_ratio and decoration.fill_ratio / VARIANTS
	if copy.noise_params then
		copy.noise_params.offset = copy.noise_params.offset / VARIANTS
		copy.noise_params.scale = copy.noise_params.scale / VARIANTS
	end
	return copy
end

-- The place of a decoration in the order in which they were registered. One without a name has a handle in place of it,
-- whose low bits have the place, and whose others are drawn anew at each start.
local function place_of(name)
	if type(name) == "number" then
		return bit.band(bit.bxor(name, 0x00585e6f), 0x3ffff)
	end
	return minetest.get_decoration_id(name)
end

minetest.register_on_mods_loaded(function()
	local listed = {}
	for name, decoration in pairs(minetest.registered_decorations) do
		listed[#listed + 1] = {place_of(name), decoration}
	end
	table.sort(listed, function(one, other) return one[1] < other[1] end)
	for number, pair in ipairs(listed) do -- their places in the list are what the map generator's dice depend on
		assert(pair[1] == number - 1, "the order of decorations is not known")
	end
	minetest.clear_registered_decorations()
	for _, pair in ipairs(listed) do
		if pair[2].deco_type == "schematic" then
			for number = 1, VARIANTS do
				minetest.register_decoration(variant(pair[2], number))
			end
		else
			minetest.register_decoration(pair[2])
		end
	end
	minetest.after(0, prepare)
end)
