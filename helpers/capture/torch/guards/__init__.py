"""What Dynamo guards: the tree, which guard fails, two guard sets compared."""
