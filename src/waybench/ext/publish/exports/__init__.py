"""Results in the formats of others: Every Eval Ever, Hugging Face, Inspect's catalogue of evaluations, citations."""
