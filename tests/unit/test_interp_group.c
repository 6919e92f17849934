/* The interpreter on work-groups: barriers, races, group and sub-group operations, atomics. */
#include "test_interp_kit.h"

#include <stdio.h>

/* ---- barriers ---- */

static const char *const reverse = "kernel @k(%o: ptr.global i32, %s: ptr.local i32) {\n"
                                   "    %l = local_id x\n"
                                   "    %g = global_id x\n"
                                   "    %x = trunc i32 %g\n"
                                   "    %p = elem i32 %s, %l\n"
                                   "    store i32 %p, %x\n"
                                   "    barrier local\n"
                                   "    %n = local_size x\n"
                                   "    %m = sub i64 %n, 1\n"
                                   "    %r = sub i64 %m, %l\n"
                                   "    %q = elem i32 %s, %r\n"
                                   "    %y = load i32 %q\n"
                                   "    %t = elem i32 %o, %g\n"
                                   "    store i32 %t, %y\n"
                                   "}\n";

static void barriers_let_work_items_exchange(void **state)
{
    (void)state;
    int32_t out[10];
    struct interp_arg args[] = {BUFFER(out), LOCAL(16)};
    kit_clean_run(reverse, 10, 4, args);
    static const int32_t wanted[] = {3, 2, 1, 0, 7, 6, 5, 4, 9, 8};
    assert_memory_equal(out, wanted, sizeof wanted);
}

/* A tree reduction: barriers in a loop, in a called function. */
static void barriers_in_loops_and_calls(void **state)
{
    (void)state;
    int32_t out[2];
    struct interp_arg args[] = {BUFFER(out), LOCAL(32)};
    kit_clean_run("func @reduce(%s: ptr.local i32, %l: i64) {\n"
                  "    loop (%d: i64 = 4) {\n"
                  "        %end = ieq i64 %d, 0\n"
                  "        if %end {\n"
                  "            break\n"
                  "        }\n"
                  "        %mine = slt i64 %l, %d\n"
                  "        if %mine {\n"
                  "            %r = add i64 %l, %d\n"
                  "            %p = elem i32 %s, %l\n"
                  "            %q = elem i32 %s, %r\n"
                  "            %x = load i32 %p\n"
                  "            %y = load i32 %q\n"
                  "            %z = add i32 %x, %y\n"
                  "            store i32 %p, %z\n"
                  "        }\n"
                  "        barrier local\n"
                  "        %e = lshr i64 %d, 1\n"
                  "        continue %e\n"
                  "    }\n"
                  "}\n"
                  "kernel @k(%o: ptr.global i32, %s: ptr.local i32) {\n"
                  "    %l = local_id x\n"
                  "    %g = global_id x\n"
                  "    %x = trunc i32 %g\n"
                  "    %p = elem i32 %s, %l\n"
                  "    store i32 %p, %x\n"
                  "    barrier local\n"
                  "    call @reduce(%s, %l)\n"
                  "    %first = ieq i64 %l, 0\n"
                  "    if %first {\n"
                  "        %sum = load i32 %s\n"
                  "        %i = group_id x\n"
                  "        %t = elem i32 %o, %i\n"
                  "        store i32 %t, %sum\n"
                  "    }\n"
                  "}\n",
                  16, 8, args);
    assert_int_equal(out[0], 28);
    assert_int_equal(out[1], 92);
}

static void expect_barrier(const char *text, const char *part)
{
    struct kit k;
    kit_load(&k, text);
    kit_run(&k, 4, 4, NULL);
    assert_int_equal(k.result.n_findings, 1);
    assert_int_equal(k.result.findings[0].kind, INTERP_BARRIER);
    assert_false(k.result.completed);
    if (!strstr(k.result.findings[0].text, part)) fail_msg("%s", k.result.findings[0].text);
    kit_free(&k);
}

static void barriers_not_met_by_all_are_found(void **state)
{
    (void)state;
    expect_barrier("kernel @k() {\n"
                   "    %l = local_id x\n"
                   "    %c = slt i64 %l, 2\n"
                   "    if %c {\n"
                   "        barrier local\n"
                   "    }\n"
                   "}\n",
                   "work-item (0,0,0) waits at barrier in line 5, but work-item (2,0,0) has returned");
    expect_barrier("kernel @k() {\n"
                   "    %l = local_id x\n"
                   "    %c = slt i64 %l, 2\n"
                   "    if %c {\n"
                   "        barrier local\n"
                   "    } else {\n"
                   "        barrier local\n"
                   "    }\n"
                   "}\n",
                   "work-item (2,0,0) waits at barrier in line 7");
    /* All come to it equally often, but not in the same rounds. */
    expect_barrier("kernel @k() {\n"
                   "    %l = local_id x\n"
                   "    %odd = and i64 %l, 1\n"
                   "    loop (%i: i64 = 0) {\n"
                   "        %end = ieq i64 %i, 4\n"
                   "        if %end {\n"
                   "            break\n"
                   "        }\n"
                   "        %even = and i64 %i, 1\n"
                   "        %c = ieq i64 %even, %odd\n"
                   "        if %c {\n"
                   "            barrier local\n"
                   "        }\n"
                   "        %j = add i64 %i, 1\n"
                   "        continue %j\n"
                   "    }\n"
                   "}\n",
                   "another round");
    expect_barrier("kernel @k() {\n"
                   "    %l = local_id x\n"
                   "    %c = slt i64 %l, 3\n"
                   "    if %c {\n"
                   "        barrier sub_group, local\n"
                   "    }\n"
                   "}\n",
                   "(3,0,0) has returned");
    /* Two operations at once; a group operation; one behind an early return; one in a called function. */
    expect_barrier(
        "kernel @k() {\n"
        "    %l = local_id x\n"
        "    %c = slt i64 %l, 2\n"
        "    if %c {\n"
        "        %a = group_reduce i64 %l, add\n"
        "    } else {\n"
        "        %b = group_all %c\n"
        "    }\n"
        "}\n",
        "work-item (0,0,0) waits at group_reduce in line 5, but work-item (2,0,0) waits at group_all in line 7");
    expect_barrier("kernel @k() {\n"
                   "    %l = local_id x\n"
                   "    %c = sgt i64 %l, 2\n"
                   "    if %c {\n"
                   "        return\n"
                   "    }\n"
                   "    %a = group_scan_incl i64 %l, add\n"
                   "}\n",
                   "work-item (0,0,0) waits at group_scan_incl in line 7, but work-item (3,0,0) has returned");
    expect_barrier("func @meet() {\n"
                   "    barrier local\n"
                   "}\n"
                   "kernel @k() {\n"
                   "    %l = local_id x\n"
                   "    %c = slt i64 %l, 2\n"
                   "    if %c {\n"
                   "        call @meet()\n"
                   "    }\n"
                   "    call @meet()\n"
                   "}\n",
                   "another call");
    expect_barrier("kernel @k() {\n"
                   "    %l = local_id x\n"
                   "    %c = slt i64 %l, 1\n"
                   "    if %c {\n"
                   "        %x = group_scan_excl i64 %l, sub_group, smax\n"
                   "    }\n"
                   "}\n",
                   "waits at group_scan_excl in line 5, but work-item (1,0,0) has returned");
}

/* ---- races ---- */

static void expect_race(const char *text, uint64_t global, uint64_t local, const char *part, uint64_t item,
                        uint64_t other)
{
    int32_t t[16] = {0};
    struct interp_arg args[] = {BUFFER(t), LOCAL(64)};
    struct kit k;
    kit_load(&k, text);
    kit_run(&k, global, local, args);
    assert_true(k.result.n_findings >= 1);
    const struct interp_finding *f = &k.result.findings[0];
    if (f->kind != INTERP_RACE || !strstr(f->text, part)) fail_msg("%s", f->text);
    assert_int_equal(f->item[0], item);
    assert_int_equal(f->other[0], other);
    k.options.check_races = false;
    kit_run(&k, global, local, args);
    kit_expect_clean(&k);
    kit_free(&k);
}

static void races_between_groups(void **state)
{
    (void)state;
    /* No barrier orders groups. */
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n"
                "    %g = global_id x\n"
                "    %p = elem i32 %t, %g\n"
                "    store i32 %p, 1\n"
                "    barrier global\n"
                "    %h = xor i64 %g, 4\n"
                "    %q = elem i32 %t, %h\n"
                "    %x = load i32 %q\n"
                "}\n",
                8, 4, "store by (4,0,0) races with the load in line 8 by (0,0,0) at offset 16 of argument 0 `t`", 4, 0);
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n"
                "    %x = load i32 %t\n"
                "    %g = group_id x\n"
                "    %last = ieq i64 %g, 2\n"
                "    if %last {\n"
                "        store i32 %t, 1\n"
                "    }\n"
                "}\n",
                3, 1, "store by (2,0,0) races with the load in line 2 by (0,0,0)", 2, 0);
}

static void races_within_a_group(void **state)
{
    (void)state;
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n"
                "    %l = local_id x\n"
                "    %p = elem i32 %s, %l\n"
                "    store i32 %p, 1\n"
                "    %m = xor i64 %l, 1\n"
                "    %q = elem i32 %s, %m\n"
                "    store i32 %q, 2\n"
                "}\n",
                4, 4, "local argument 1 `s`", 1, 0);
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n    store i32 %t, 7\n}\n", 4, 4,
                "equal values, still a race", 1, 0);
    /* A barrier orders only the memory that it fences. */
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n"
                "    %l = local_id x\n"
                "    %p = elem i32 %t, %l\n"
                "    store i32 %p, 1\n"
                "    barrier local\n"
                "    %m = xor i64 %l, 1\n"
                "    %q = elem i32 %t, %m\n"
                "    %x = load i32 %q\n"
                "}\n",
                4, 4, "load by (0,0,0) races with the store in line 4 by (1,0,0)", 0, 1);
    /* A barrier of the sub-group does not order two sub-groups. */
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n"
                "    %l = local_id x\n"
                "    %p = elem i32 %t, %l\n"
                "    store i32 %p, 1\n"
                "    barrier sub_group, global\n"
                "    %m = xor i64 %l, 4\n"
                "    %q = elem i32 %t, %m\n"
                "    %x = load i32 %q\n"
                "}\n",
                8, 8, "races with the store in line 4", 0, 4);
    /* Atomic only among those of its own group. */
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n    %y = atomic_add i32 %t, 1, work_group\n}\n", 4,
                2, "store by (2,0,0) races with the store in line 2 by (1,0,0)", 2, 1);
    /* Atomic against plain. */
    expect_race("kernel @k(%t: ptr.global i32, %s: ptr.local i32) {\n"
                "    %x = load i32 %t\n"
                "    %y = atomic_add i32 %t, 1\n"
                "}\n",
                2, 2, "load by (1,0,0) races with the store in line 3", 1, 0);
}

static void ordered_accesses_do_not_race(void **state)
{
    (void)state;
    int32_t t[16] = {0};
    struct interp_arg args[] = {BUFFER(t)};
    const char *const exchange = "kernel @k(%t: ptr.global i32) {\n"
                                 "    %g = global_id x\n"
                                 "    %p = elem i32 %t, %g\n"
                                 "    store i32 %p, 1\n"
                                 "    barrier global\n"
                                 "    %h = xor i64 %g, 1\n"
                                 "    %q = elem i32 %t, %h\n"
                                 "    %x = load i32 %q\n"
                                 "    barrier sub_group, global\n"
                                 "    store i32 %q, 2\n"
                                 "}\n";
    kit_clean_run(exchange, 16, 8, args);
    kit_clean_run("kernel @k(%t: ptr.global i32) {\n"
                  "    %x = atomic_add i32 %t, 1\n"
                  "    %y = atomic_load i32 %t\n"
                  "}\n",
                  16, 4, args);
    assert_int_equal(t[0], 2 + 16);
    kit_clean_run("kernel @k(%t: ptr.global i32) {\n    %x = load i32 %t\n}\n", 16, 4, args);
}

static void private_memory_is_private(void **state)
{
    (void)state;
    struct kit k;
    const struct interp_arg args[] = {LOCAL(8)};
    kit_load(&k, "kernel @k(%s: ptr.local) {\n"
                 "    %v = var i32\n"
                 "    store i32 %v, 1\n"
                 "    %l = local_id x\n"
                 "    %first = ieq i64 %l, 0\n"
                 "    if %first {\n"
                 "        store ptr.private %s, %v\n"
                 "    }\n"
                 "    barrier local\n"
                 "    %p = load ptr.private %s\n"
                 "    %x = load i32 %p\n"
                 "    barrier local\n" /* nobody has returned yet */
                 "}\n");
    kit_run(&k, 2, 2, args);
    assert_int_equal(kit_expect(&k, INTERP_INVALID, 11, "another work-item's private memory")->item[0], 1);
    kit_free(&k);
}

static void aliased_buffers_share_their_shadow(void **state)
{
    (void)state;
    int32_t t[8] = {0};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = t, .size = 16},
                                {.kind = INTERP_ARG_BUFFER, .data = t + 2, .size = 16}};
    struct kit k;
    kit_load(&k, "kernel @k(%a: ptr.global i32, %b: ptr.global i32) {\n"
                 "    %g = global_id x\n"
                 "    %p = elem i32 %a, %g\n"
                 "    store i32 %p, 1\n"
                 "    %q = elem i32 %b, %g\n"
                 "    %x = load i32 %q\n"
                 "}\n");
    kit_run(&k, 3, 1, args);
    const struct interp_finding *f = kit_expect(&k, INTERP_RACE, 4, "argument 0 `a`");
    assert_int_equal(f->item[0], 2);
    assert_int_equal(f->other[0], 0);
    kit_free(&k);
}

/* ---- group operations ---- */

static void expect_values(const char *body, uint64_t global, uint64_t local, const int32_t *wanted)
{
    int32_t out[32];
    char text[2048];
    struct interp_arg args[] = {BUFFER(out)};
    snprintf(text, sizeof text,
             "kernel @k(%%o: ptr.global i32) {\n"
             "    %%g = global_id x\n"
             "    %%i = trunc i32 %%g\n"
             "%s"
             "    %%p = elem i32 %%o, %%g\n"
             "    store i32 %%p, %%r\n"
             "}\n",
             body);
    kit_clean_run(text, global, local, args);
    for (uint64_t i = 0; i < global; i++)
        if (out[i] != wanted[i]) fail_msg("%s[%d]: got %d, wanted %d", body, (int)i, out[i], wanted[i]);
}

static void work_group_functions(void **state)
{
    (void)state;
    expect_values("    %r = group_reduce i32 %i, add\n", 6, 4, (int32_t[]){6, 6, 6, 6, 9, 9});
    expect_values("    %r = group_reduce i32 %i, smax\n", 6, 4, (int32_t[]){3, 3, 3, 3, 5, 5});
    expect_values("    %r = group_scan_incl i32 %i, add\n", 6, 4, (int32_t[]){0, 1, 3, 6, 4, 9});
    expect_values("    %r = group_scan_excl i32 %i, add\n", 6, 4, (int32_t[]){0, 0, 1, 3, 0, 4});
    expect_values("    %r = group_scan_excl i32 %i, smin\n", 4, 4, (int32_t[]){INT32_MAX, 0, 0, 0});
    expect_values("    %r = group_scan_excl i32 %i, sub_group, umin\n", 4, 4, (int32_t[]){-1, 0, 0, 0});
    expect_values("    %r = group_broadcast i32 %i, 2\n", 8, 4, (int32_t[]){2, 2, 2, 2, 6, 6, 6, 6});
    expect_values("    %c = slt i32 %i, 5\n    %a = group_all %c\n    %e = group_any %c\n"
                  "    %x = zext i32 %a\n    %y = zext i32 %e\n    %z = add i32 %x, %x\n    %r = add i32 %y, %z\n",
                  12, 4, (int32_t[]){3, 3, 3, 3, 1, 1, 1, 1, 0, 0, 0, 0});
    expect_values("    %f = stof f32 %i\n    %m = group_reduce f32 %f, mul\n    %x = group_scan_excl f32 %f, smax\n"
                  "    %h = fmax f32 %x, -1.0\n    %s = fadd f32 %m, %h\n    %r = ftos i32 %s\n",
                  4, 4, (int32_t[]){-1, 0, 1, 2});
}

static void sub_group_functions(void **state)
{
    (void)state;
    /* sub-groups of 4; the second one of the group of 6 has 2 work-items */
    expect_values("    %r = group_reduce i32 %i, sub_group, add\n", 6, 6, (int32_t[]){6, 6, 6, 6, 9, 9});
    expect_values(
        "    %s = sub_group_size\n    %m = sub_group_max_size\n    %x = mul i32 %s, 10\n    %r = add i32 %x, %m\n", 6,
        6, (int32_t[]){44, 44, 44, 44, 24, 24});
    expect_values("    %r = sub_group_shuffle_xor i32 %i, 1\n", 4, 4, (int32_t[]){1, 0, 3, 2});
    expect_values("    %u = sub i32 3, %i\n    %r = sub_group_shuffle i32 %i, %u\n", 4, 4, (int32_t[]){3, 2, 1, 0});
    expect_values("    %r = sub_group_rotate i32 %i, 1\n", 6, 6, (int32_t[]){1, 2, 3, 0, 5, 4});
    expect_values("    %h = add i32 %i, 100\n    %r = sub_group_shuffle_up i32 %h, %i, 1\n", 4, 4,
                  (int32_t[]){103, 0, 1, 2});
    expect_values("    %h = add i32 %i, 100\n    %r = sub_group_shuffle_down i32 %i, %h, 1\n", 4, 4,
                  (int32_t[]){1, 2, 3, 100});
    expect_values(
        "    %q = sub_group_id\n    %n = num_sub_groups\n    %l = sub_group_local_id\n"
        "    %x = mul i32 %q, 100\n    %y = mul i32 %n, 10\n    %s = add i32 %x, %y\n    %r = add i32 %s, %l\n",
        6, 6, (int32_t[]){20, 21, 22, 23, 120, 121});
}

/* Ballots in branches count those that are there; behind the if all are together again. */
static void active_work_items(void **state)
{
    (void)state;
    expect_values("    %c = slt i32 %i, 3\n"
                  "    %a = if %c -> i32 {\n"
                  "        %odd = trunc i8 %i\n"
                  "        %b = sub_group_ballot true\n"
                  "        %x = extract i32x4 %b, 0\n"
                  "        yield %x\n"
                  "    } else {\n"
                  "        %e = sub_group_elect\n"
                  "        %x2 = zext i32 %e\n"
                  "        yield %x2\n"
                  "    }\n"
                  "    %d = sub_group_ballot true\n"
                  "    %y = extract i32x4 %d, 0\n"
                  "    %z = mul i32 %y, 100\n"
                  "    %r = add i32 %a, %z\n",
                  8, 8, (int32_t[]){1507, 1507, 1507, 1501, 1501, 1500, 1500, 1500});
    /* Rounds of a loop: work-item i stays for i rounds; the early ones wait behind the loop. */
    expect_values("    %r0, %last = loop (%n: i32 = 0, %m: i32 = 0) -> i32, i32 {\n"
                  "        %b = sub_group_ballot true\n"
                  "        %x = extract i32x4 %b, 0\n"
                  "        %pop = popcount i32 %x\n"
                  "        %m2 = add i32 %m, %pop\n"
                  "        %end = sge i32 %n, %i\n"
                  "        if %end {\n"
                  "            break %m2, %n\n"
                  "        }\n"
                  "        %n2 = add i32 %n, 1\n"
                  "        continue %n2, %m2\n"
                  "    }\n"
                  "    %same = sub_group_all_equal i32 %r0\n"
                  "    %one = zext i32 %same\n"
                  "    %r = add i32 %r0, %one\n",
                  4, 4, (int32_t[]){4, 7, 9, 10});
}

static void blocks_of_a_sub_group(void **state)
{
    (void)state;
    int32_t in[16], out[16];
    for (int i = 0; i < 16; i++) in[i] = i;
    struct interp_arg args[] = {BUFFER(in), BUFFER(out)};
    kit_clean_run("kernel @k(%a: ptr.global i32, %o: ptr.global i32) {\n"
                  "    %s = sub_group_id\n"
                  "    %b = mul i32 %s, 8\n"
                  "    %p = elem i32 %a, %b\n"
                  "    %q = elem i32 %o, %b\n"
                  "    %x = block_read i32x2 %p\n"
                  "    %y = shuffle i32x2 %x, %x, [1, 0]\n"
                  "    block_write i32x2 %q, %y\n"
                  "}\n",
                  8, 8, args);
    static const int32_t wanted[] = {4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11};
    assert_memory_equal(out, wanted, sizeof wanted);
}

static void broadcast_wants_one_source(void **state)
{
    (void)state;
    struct kit k;
    kit_load(&k, "kernel @k() {\n    %l = local_id x\n    %x = group_broadcast i64 %l, %l\n}\n");
    kit_run(&k, 2, 2, NULL);
    const struct interp_finding *f =
        kit_expect(&k, INTERP_INVALID, 3, "not the same for all: (0,0,0) and (1,0,0) differ");
    assert_int_equal(f->item[0], 1);
    assert_int_equal(f->other[0], 0);
    kit_free(&k);
    kit_load(&k, "kernel @k() {\n    %l = local_id x\n    %x = group_broadcast i64 %l, 9\n}\n");
    kit_run(&k, 2, 2, NULL);
    kit_expect(&k, INTERP_INVALID, 3, "outside the group");
    kit_free(&k);
}

static void blocks_want_one_place(void **state)
{
    (void)state;
    int32_t in[16] = {0};
    struct interp_arg args[] = {BUFFER(in)};
    static const char *const text[] = {
        "kernel @k(%a: ptr.global i32) {\n    %l = local_id x\n    %p = elem i32 %a, %l\n"
        "    %x = block_read i32 %p\n}\n",
        "kernel @k(%a: ptr.global i32) {\n    %l = local_id x\n    %p = elem i32 %a, %l\n"
        "    block_write i32 %p, 1\n}\n",
    };
    for (int i = 0; i < 2; i++) {
        struct kit k;
        kit_load(&k, text[i]);
        k.options.check_races = false;
        kit_run(&k, 4, 4, args);
        kit_expect(&k, INTERP_INVALID, 4, "has a pointer that is not the same in the sub-group: (0,0,0) and (1,0,0)");
        kit_free(&k);
    }
}

/* Reads begin at four bytes, writes at sixteen. */
static void blocks_begin_at_aligned_places(void **state)
{
    (void)state;
    _Alignas(16) int8_t bytes[32] = {0};
    struct interp_arg args[] = {BUFFER(bytes)};
    static const struct {
        const char *inst, *part;
    } cases[] = {
        {"%p = elem i8 %a, 1\n    %x = block_read i8 %p", "not aligned to 4"},
        {"%p = elem i8 %a, 4\n    %x = block_read i64 %p", "not aligned to 8"},
        {"%p = elem i8 %a, 4\n    block_write i8 %p, 1", "not aligned to 16"},
        {"%p = elem i8 %a, 8\n    block_write i32 %p, 1", "not aligned to 16"},
        {"%p = elem i8 %a, 4\n    %x = block_read i8x2 %p", NULL},
        {"%p = elem i8 %a, 16\n    block_write i8x2 %p, 1", NULL},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k;
        char text[256];
        snprintf(text, sizeof text, "kernel @k(%%a: ptr.global i8) {\n    %s\n}\n", cases[i].inst);
        kit_load(&k, text);
        kit_run(&k, 2, 2, args);
        if (!cases[i].part)
            kit_expect_clean(&k);
        else if (!k.result.n_findings || !strstr(k.result.findings[0].text, cases[i].part))
            fail_msg("%s", cases[i].inst);
        kit_free(&k);
    }
}

/* Ids that no sub-group has. What a shift moves in from outside is no mistake. */
static void shuffles_want_ids_of_the_sub_group(void **state)
{
    (void)state;
    struct kit k;
    static const struct {
        const char *body, *part;
    } cases[] = {
        {"    %x = sub_group_shuffle i64 %l, 4\n", "(0,0,0) takes the value of id 4 of a sub-group of 4"},
        {"    %x = sub_group_shuffle_xor i64 %l, 6\n", "takes the value of id 6"},
    };
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text, "kernel @k() {\n    %%l = local_id x\n%s}\n", cases[i].body);
        kit_load(&k, text);
        kit_run(&k, 4, 4, NULL);
        kit_expect_clean(&k);
        k.options.check_shuffles = true;
        kit_run(&k, 4, 4, NULL);
        kit_expect(&k, INTERP_INVALID, 3, cases[i].part);
        kit_free(&k);
    }
    kit_load(&k, "kernel @k() {\n    %l = local_id x\n    %x = sub_group_shuffle_down i64 %l, %l, 3\n}\n");
    k.options.check_shuffles = true;
    kit_run(&k, 4, 4, NULL);
    kit_expect_clean(&k);
    kit_run(&k, 6, 6, NULL);
    kit_expect_clean(&k);
    kit_free(&k);
}

/* The last two of six work-items are a sub-group that lacks ids 2 and 3. */
static void shuffles_want_work_items_that_are_there(void **state)
{
    (void)state;
    struct kit k;
    static const struct {
        const char *body, *part;
    } cases[] = {
        {"    %x = sub_group_shuffle i64 %l, 3\n",
         "(4,0,0) takes the value of id 3 of a sub-group of 4 that is incomplete: it has 2"},
        {"    %x = sub_group_shuffle_xor i64 %l, 2\n",
         "(4,0,0) takes the value of id 2 of a sub-group of 4 that is incomplete: it has 2"},
    };
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text, "kernel @k() {\n    %%l = local_id x\n%s}\n", cases[i].body);
        kit_load(&k, text);
        k.options.check_shuffles = true;
        kit_run(&k, 8, 4, NULL);
        kit_expect_clean(&k);
        kit_run(&k, 6, 6, NULL);
        kit_expect(&k, INTERP_INVALID, 3, cases[i].part);
        kit_free(&k);
    }
}

/* ---- atomics ---- */

static void atomics_return_the_old_value(void **state)
{
    (void)state;
    union {
        uint32_t u[16];
        float f[16];
    } t = {.u = {10, 10, 10, 10, 10, 10, 0xf0, 0xf0, 0xf0, 10, 0, 7, 0, 0, 0, 0}};
    t.f[12] = 1.5f;
    uint32_t old[16] = {0};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = &t, .size = sizeof t}, BUFFER(old)};
    char text[8192], *at = text;
    at += sprintf(at, "kernel @k(%%t: ptr.global i32, %%o: ptr.global i32) {\n");
    static const char *const ops[] = {"add i32 %a0, 5",    "sub i32 %a1, 11",  "smin i32 %a2, -1",  "umin i32 %a3, -1",
                                      "smax i32 %a4, -1",  "umax i32 %a5, -1", "and i32 %a6, 0x3c", "or i32 %a7, 0x3c",
                                      "xor i32 %a8, 0x3c", "xchg i32 %a9, 3"};
    for (int i = 0; i < 10; i++) {
        at += sprintf(at, "    %%a%d = elem i32 %%t, %d\n    %%r%d = atomic_%s\n", i, i, i, ops[i]);
        at += sprintf(at, "    %%p%d = elem i32 %%o, %d\n    store i32 %%p%d, %%r%d\n", i, i, i, i);
    }
    sprintf(at,
            "    %%a10 = elem i32 %%t, 10\n    %%c = atomic_cmpxchg i32 %%a10, 0, 4\n    %%d = atomic_cmpxchg i32 "
            "%%a10, 0, 5\n"
            "    %%p10 = elem i32 %%o, 10\n    store i32 %%p10, %%d\n"
            "    %%a11 = elem i32 %%t, 11\n    %%s = atomic_test_set %%a11\n    %%z = zext i32 %%s\n"
            "    %%p11 = elem i32 %%o, 11\n    store i32 %%p11, %%z\n"
            "    %%a12 = elem i32 %%t, 12\n    %%f = atomic_fadd f32 %%a12, 1.0\n    %%g = atomic_fmax f32 %%a12, 2.0\n"
            "    %%p12 = elem f32 %%o, 12\n    store f32 %%p12, %%g\n"
            "    %%a13 = elem i32 %%t, 13\n    atomic_store i32 %%a13, 6\n    %%a14 = elem i32 %%t, 14\n"
            "    atomic_clear %%a14\n"
            "}\n");
    kit_clean_run(text, 1, 1, args);
    static const uint32_t wanted[] = {15, UINT32_MAX, UINT32_MAX, 10, 10, UINT32_MAX, 0x30, 0xfc, 0xcc, 3, 4, 1};
    assert_memory_equal(t.u, wanted, sizeof wanted);
    assert_true(t.f[12] == 2.5f);
    assert_int_equal(t.u[13], 6);
    static const uint32_t wanted_old[] = {10, 10, 10, 10, 10, 10, 0xf0, 0xf0, 0xf0, 10, 4, 1};
    assert_memory_equal(old, wanted_old, sizeof wanted_old);
    assert_int_equal(old[12], 0x40200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_let_work_items_exchange),
        cmocka_unit_test(barriers_in_loops_and_calls),
        cmocka_unit_test(barriers_not_met_by_all_are_found),
        cmocka_unit_test(races_between_groups),
        cmocka_unit_test(races_within_a_group),
        cmocka_unit_test(ordered_accesses_do_not_race),
        cmocka_unit_test(aliased_buffers_share_their_shadow),
        cmocka_unit_test(private_memory_is_private),
        cmocka_unit_test(work_group_functions),
        cmocka_unit_test(sub_group_functions),
        cmocka_unit_test(active_work_items),
        cmocka_unit_test(blocks_of_a_sub_group),
        cmocka_unit_test(broadcast_wants_one_source),
        cmocka_unit_test(blocks_want_one_place),
        cmocka_unit_test(blocks_begin_at_aligned_places),
        cmocka_unit_test(shuffles_want_ids_of_the_sub_group),
        cmocka_unit_test(shuffles_want_work_items_that_are_there),
        cmocka_unit_test(atomics_return_the_old_value),
    };
    return cmocka_run_group_tests_name("interp_group", tests, NULL, NULL);
}
