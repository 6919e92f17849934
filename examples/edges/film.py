"""film.py SAVED PICTURES.npy EDGES.npy: the edges of many pictures (pictures, rows, columns, 4), several under way at a time. What
was finalized is kept in the file SAVED, which spares the next run that."""
import asyncio
import os
import sys

import fusiond
import numpy

pictures = numpy.load(sys.argv[2])
count, height, width = pictures.shape[:3]
shape = height, width


async def make(session):
    """The handle; its arrays are found by name where it was loaded."""
    kernels = session.load(os.path.join(os.path.dirname(__file__), "edges.cl"))
    photo, edges = session.empty(pictures.shape[1:], "u1", name="photo"), session.empty(shape, "u1", name="edges")
    light, strong = session.empty(shape, "f4"), session.empty(shape, "f4")
    with session.graph() as graph:
        kernels.gray[shape](photo, light, width, height)
        kernels.contrast[shape](light, strong, 1.5, width, height)
        kernels.sobel[shape](strong, edges, width, height)
    run = await graph.finalize_async(outputs=[edges])
    run.save(sys.argv[1])
    return run, photo, edges


async def main():
    with fusiond.connect(time_limit_ms=60000) as session:
        session.profiling = True
        loaded = os.path.exists(sys.argv[1])
        run = session.load_handle(sys.argv[1]) if loaded else None
        run, photo, edges = (run, run.arrays["photo"], run.arrays["edges"]) if loaded else await make(session)
        inputs = [session.array(p) for p in pictures]
        outputs = [session.empty(shape, "u1") for _ in pictures]
        events = [run.submit({photo: i, edges: o}, priority=-n) for n, (i, o) in enumerate(zip(inputs, outputs))]
        await asyncio.gather(*events)
        numpy.save(sys.argv[3], numpy.stack(outputs))
        spent = sum(e.times.ended - e.times.started for e in events)
        print(f"{'loaded' if loaded else 'finalized'}, {count} pictures, {1000 * spent:.1f} ms")


asyncio.run(main())
