/*
 * Heat that spreads over a plate, shared out among the ranks of MPI: each has as many rows, and the graph of its two
 * steps, in which the two kernels of a step are one launch. Between steps a host task of the graph exchanges the rows
 * at the borders. All ranks of a machine use one service, which compiles for all of them once.
 *
 *     mpiexec -n 4 stencil STENCIL.fk [rows of a rank]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fusiond/fusiond.h>

enum { WIDTH = 256, STEPS = 20, USUAL_ROWS = 64 };

static const float part = 0.125f;

static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    const fusion_error *e = fusion_last_error();
    fprintf(stderr, "%s: %s\n", e->object, e->reason);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- a rank ---- */

/* Rows of heat with one of each neighbour around them. */
struct halo {
    float *rows;
    int n, above, below; /* own rows; neighbours, MPI_PROC_NULL at the edge */
};

static void exchange(void *data)
{
    const struct halo *h = data;
    float *first = h->rows + WIDTH, *last = h->rows + (size_t)h->n * WIDTH;
    MPI_Sendrecv(first, WIDTH, MPI_FLOAT, h->above, 0, last + WIDTH, WIDTH, MPI_FLOAT, h->below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, WIDTH, MPI_FLOAT, h->below, 1, h->rows, WIDTH, MPI_FLOAT, h->above, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static float first_heat(int x, int y)
{
    return (x - 100) * (x - 100) + (y - 40) * (y - 40) < 900 ? 100.0f : (float)(x % 7);
}

static fusion_buffer *heat_new(fusion_session *s, const char *name, struct halo *h)
{
    fusion_buffer *b;
    check(fusion_buffer_create(s, name, FUSION_F32, (uint64_t)(h->n + 2) * WIDTH, 0, &b));
    check(fusion_buffer_map(b, (void **)&h->rows));
    return b;
}

static void add_kernel(fusion_graph *g, fusion_module *m, const char *kernel, int rows, const fusion_arg *args,
                       uint32_t n)
{
    fusion_kernel_node node = {
        FUSION_SIZED(fusion_kernel_node), .module = m, .kernel = kernel, .dims = 2, .args = args, .n_args = n};
    node.global[0] = WIDTH;
    node.global[1] = (size_t)rows;
    check(fusion_graph_add_kernel(g, &node, NULL));
}

/* The borders of `from` are exchanged, then `to` is what it becomes. */
static void add_step(fusion_graph *g, fusion_session *s, fusion_module *m, struct halo *h, fusion_buffer *from,
                     fusion_buffer *to, const char *flow_name)
{
    fusion_buffer *flow;
    fusion_arg borders[] = {fusion_arg_buffer(from, FUSION_ACCESS_READ_WRITE)};
    check(fusion_buffer_create(s, flow_name, FUSION_F32, (uint64_t)h->n * WIDTH,
                               FUSION_INTERNAL_MEMORY | FUSION_NO_INIT, &flow));
    check(fusion_graph_add_host_task(g, NULL, borders, 1, exchange, h, NULL, 0, NULL));
    add_kernel(g, m, "flow", h->n, (fusion_arg[]){fusion_arg_read(from), fusion_arg_write(flow), fusion_arg_i64(WIDTH)},
               3);
    add_kernel(g, m, "spread", h->n,
               (fusion_arg[]){fusion_arg_read(from), fusion_arg_read(flow), fusion_arg_write(to), fusion_arg_i64(WIDTH),
                              fusion_arg_f32(part)},
               5);
}

/* ---- the same in plain C, all rows ---- */

static void step(const float *heat, float *next, int rows)
{
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < WIDTH; x++) {
            const float *row = heat + (size_t)y * WIDTH;
            float sides = row[x ? x - 1 : 0] + row[x < WIDTH - 1 ? x + 1 : x];
            float ends = row[x - WIDTH] + row[x + WIDTH], in = (sides + ends) - row[x] * 4.0f;
            next[(size_t)y * WIDTH + x] = row[x] + in * part;
        }
}

/* Compares rank 0's and everybody's rows with it. */
static int compare(const float *all, int rows)
{
    float *a = calloc((size_t)(rows + 2) * WIDTH, sizeof *a), *b = calloc((size_t)(rows + 2) * WIDTH, sizeof *b);
    int wrong = 0;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < WIDTH; x++) a[(size_t)(y + 1) * WIDTH + x] = first_heat(x, y);
    for (int i = 0; i < STEPS / 2; i++) {
        step(a, b, rows);
        step(b, a, rows);
    }
    wrong = memcmp(all, a + WIDTH, (size_t)rows * WIDTH * sizeof *a) != 0;
    free(a);
    free(b);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) {
        fprintf(stderr, "usage: stencil STENCIL.fk [rows of a rank]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct halo even = {.n = argc > 2 ? atoi(argv[2]) : USUAL_ROWS,
                        .above = rank ? rank - 1 : MPI_PROC_NULL,
                        .below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL};
    struct halo odd = even;
    fusion_session *s;
    fusion_module *m;
    fusion_graph *g;
    fusion_exec *e;
    check(fusion_connect(NULL, NULL, &s));
    check(fusion_module_load_file(s, argv[1], &m));
    fusion_buffer *a = heat_new(s, "heat", &even), *b = heat_new(s, "next", &odd);
    for (int y = 0; y < even.n; y++)
        for (int x = 0; x < WIDTH; x++) even.rows[(size_t)(y + 1) * WIDTH + x] = first_heat(x, rank * even.n + y);
    check(fusion_graph_create(s, &g));
    add_step(g, s, m, &even, a, b, "flow");
    add_step(g, s, m, &odd, b, a, "flow back");
    fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE,
                                       .tier = FUSION_TIER_COMPILED};
    check(fusion_graph_finalize(g, &options, &e));
    for (int i = 0; i < STEPS / 2; i++) {
        fusion_event done;
        check(fusion_exec_submit(e, NULL, 0, &done));
        check(fusion_event_wait(s, done, -1, NULL));
    }
    float *all = rank ? NULL : malloc((size_t)ranks * even.n * WIDTH * sizeof *all);
    MPI_Gather(even.rows + WIDTH, even.n * WIDTH, MPI_FLOAT, all, even.n * WIDTH, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (!rank) {
        wrong = compare(all, ranks * even.n);
        printf("%d ranks, %d steps, %u launches for two: %s\n", ranks, STEPS, fusion_exec_report(e)->launches,
               wrong ? "not what plain C computes" : "as plain C");
    }
    free(all);
    fusion_disconnect(s);
    MPI_Finalize();
    return wrong;
}
