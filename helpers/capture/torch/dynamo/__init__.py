"""One translation by Dynamo, recorded: instructions, graph breaks, rewritten bytecode."""
