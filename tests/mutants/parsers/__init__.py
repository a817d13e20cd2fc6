"""Broken stream parsers of OpenAI Chat Completions: each has one fault that published ones have.

`ChatParser` is correct and made of small methods; each mutant overrides the one in which it is
wrong. It is written once, and read twice: as the parser that it is, in memory, and through
`ChatModel`, as an adapter over HTTP. Beside each stand the checks that must fail for it.
"""
