"""What keeps the learner's machine and kernel whole: every room may use it, it uses none.

`restoring`: what a verb changed in the interpreter, put back. `limits`: code that ends within a
time, a room and a number of characters. `children`: processes that end at their limit and with the
kernel. `folders`: whose folder it is, before anything is deleted, moved or overwritten.
`arguments`: what an argument is, whatever it says. `missing_parts`: what an error says of a
framework or a compiler that is not there. `learner_record`: what a learner did, in `work/`.
`progress`: what is being done, in words.
"""
