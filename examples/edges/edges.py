"""edges.py PICTURE.npy EDGES.npy: the edges of a picture of bytes (rows, columns, 4)."""
import os
import sys

import fusiond
import numpy

picture = numpy.load(sys.argv[1])
height, width = shape = picture.shape[:2]

with fusiond.connect() as session:
    kernels = session.load(os.path.join(os.path.dirname(__file__), "edges.cl"))
    photo, edges = session.array(picture), session.empty(shape, "u1")
    light, strong = session.empty(shape, "f4"), session.empty(shape, "f4")
    with session.graph() as graph:
        kernels.gray[shape](photo, light, width, height)
        kernels.contrast[shape](light, strong, 1.5, width, height)
        kernels.sobel[shape](strong, edges, width, height)
    run = graph.finalize(outputs=[edges])
    run()
    numpy.save(sys.argv[2], edges)
    print(run.report)
