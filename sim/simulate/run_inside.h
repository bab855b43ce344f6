/* run_inside.h - what run.c (time), run_queue.c (who may start) and run_change.c see. */
#ifndef SS_RUN_INSIDE_H
#define SS_RUN_INSIDE_H

#include "base/wide.h"
#include "simulate/run.h"
#include "simulate/sharing.h"

/* A speed of 1.  Speeds are whole numbers of 2^-64, so that to work in two pieces is the same as in one, and a
 * speed of 1e-9 is what was said to 3e-11 of it.  The longest hold has work below 2^127, and no speed is above
 * 2^74: what worked until its end never overflows. */
#define SS_RUN_SPEED ((ss_wide)1 << 64)

typedef struct ss_run_task {
    ss_time ready, start, end, finish;
    ss_time latency;   /* of it to come before the work, at whatever speed */
    ss_wide work;      /* to come: picoseconds at speed 1, times SS_RUN_SPEED */
    ss_time since;     /* when these two were so */
    ss_wide speed;     /* of the work */
    uint32_t missing;  /* predecessors that are not done */
    uint32_t event;    /* the last that was posted for it: earlier ones are void */
    uint32_t more_out; /* first of the edges to tasks that were added; 0: none */
    uint8_t stage;     /* ss_stage */
    bool stays;        /* a message from a device to itself, which holds nothing */
} ss_run_task;

/* A task in a queue, in the order of (key, ready, id). */
typedef struct ss_waiting {
    int64_t key; /* by the order that was asked for */
    ss_time ready;
    uint32_t id;
} ss_waiting;

typedef struct ss_run_resource {
    ss_waiting *queue; /* a heap */
    uint32_t n, cap;
    uint32_t room;  /* how many may still start */
    uint32_t *runs; /* [running] */
    uint32_t running, runs_cap;
    ss_wide speed;
    double latency_s;   /* links: as it is now */
    uint32_t crossing;  /* devices: transfers that leave or reach it */
    bool crossed;       /* devices: that changed at this instant; it is in `crossed` of the run */
    uint32_t next;      /* devices, SS_ORDER_PROGRAM: position in `program` */
    ss_wide own;        /* what speed is if it does not stand still */
    bool stopped;       /* paused or failed */
    bool changed;       /* links: the next three count */
    double bytes_per_s; /* of its own */
    double offered;     /* bytes that it could have carried until `since` */
    ss_time since;
} ss_run_resource;

typedef struct ss_run_event {
    ss_time at;
    uint32_t task, number; /* void if the task has another number by now */
} ss_run_event;

typedef struct ss_run_edge {
    uint32_t to, next;
} ss_run_edge;

/* Devices that share memory: rows of `mate`. */
typedef struct ss_run_machine {
    uint32_t first, end;
    bool pressed; /* it is in `pressed` of the run */
} ss_run_machine;

struct ss_run {
    ss_tasks tasks;
    ss_run_options options;
    int32_t *priority;
    uint32_t priorities;
    double slowed; /* the speed of a device that is slowed by copies, against its own */
    bool broken;

    ss_time now;
    ss_run_task *task; /* [tasks.n + 1] */
    uint32_t task_cap;
    ss_run_resource *resource; /* [devices + links + 1] */
    uint32_t resources;
    ss_run_event *event; /* a heap, least time first */
    uint32_t events, event_cap;
    ss_run_edge *edge; /* [edges + 1] */
    uint32_t edges, edge_cap;
    ss_waiting *start; /* a heap: tasks that may start at this instant */
    uint32_t starts, start_cap;
    ss_task *ended; /* at the last instant */
    uint32_t endeds, ended_cap;
    uint32_t done, given; /* tasks that are done; that were there at the start */
    ss_time last;         /* when the last was done */
    uint32_t *crossed;    /* [devices], where copies slow them: whose speed is to be found anew */
    uint32_t crosseds;

    /* Where there is interference, else NULL. */
    ss_run_machine *machine; /* from 1 */
    uint32_t *machine_of;    /* [devices + 1] */
    uint32_t *mate;          /* [devices], by machine */
    uint32_t *pressed;       /* machines whose speeds are to be found anew */
    uint32_t presseds;

    uint32_t *program, *first_program; /* tasks of each device, ascending: SS_ORDER_PROGRAM */
    uint32_t *held;                    /* scratch: the resources of one task */
    uint32_t held_cap;

    ss_sharing *sharing; /* NULL: links are exclusive */
    uint32_t paths;      /* that the sharing knows */
    double *bytes_per_s; /* of links as they are now, [links + 1], where they are shared */
    const ss_watch *watch;
    uint32_t look;
    const char *const *added; /* names of tasks from given + 1 on; NULL: none has any */

    ss_change *plan; /* by time; those before `planned` happened */
    uint32_t plans, planned;
    ss_change *happened;
    uint32_t happeneds, happened_cap;
    bool other_lags; /* a latency changed under fifo-pipe */
};

/* ---- run_queue.c ---- */

/* What a task holds while it runs: in r->held. */
ss_status ss_run_held(ss_run *r, uint32_t id, uint32_t *n, ss_error *err);
/* It is ready: into the queues of its resources. */
ss_status ss_run_enqueue(ss_run *r, uint32_t id, ss_error *err);
/* Starts all that may start now. */
ss_status ss_run_start_ready(ss_run *r, ss_error *err);
/* The resources of a task have room again, and the first in their queues may start. */
ss_status ss_run_release(ss_run *r, uint32_t id, ss_error *err);
ss_status ss_run_look_at_queue(ss_run *r, uint32_t resource, ss_error *err);

/* ---- run_interference.c ---- */

ss_status ss_run_take_machines(ss_run *r, const ss_run_options *o, ss_error *err);
/* A task begins or ends; what runs on a device stands still or goes on. */
void ss_run_press(ss_run *r, uint32_t id);
void ss_run_press_machine(ss_run *r, uint32_t device);
/* The speed that is left of that which its resources let a task have. */
ss_wide ss_run_interfered(const ss_run *r, uint32_t id, ss_wide speed);
ss_status ss_run_renew_machines(ss_run *r, ss_error *err);

/* ---- run_change.c ---- */

ss_status ss_run_take_plan(ss_run *r, const ss_run_options *o, ss_error *err);
/* What is planned for now. */
ss_status ss_run_follow_plan(ss_run *r, ss_error *err);

/* ---- run_stuck.c ---- */

/* Tasks are left, and nothing will happen any more. */
ss_status ss_run_refuse_stuck(const ss_run *r, ss_error *err);

/* ---- run.c ---- */

/* A speed as a number of 2^-64, above 0 if it is, however small. */
ss_wide ss_run_units(double speed);
ss_status ss_run_begin_task(ss_run *r, uint32_t id, ss_error *err); /* it starts now */
ss_status ss_run_refuse_broken(const ss_run *r, ss_error *err);
ss_status ss_run_refuse_overflow(uint32_t id, ss_error *err);
/* Brings latency and work to what they are now. */
void ss_run_settle_task(ss_run *r, ss_run_task *x);
/* The speed of a running task is what its resources say, and its end is posted accordingly. */
ss_status ss_run_renew(ss_run *r, uint32_t id, ss_error *err);
ss_status ss_run_ready(ss_run *r, uint32_t id, ss_error *err); /* nothing is missing any more */
/* All that starts at this instant has started: the rates that hold from now on. */
ss_status ss_run_settle(ss_run *r, ss_error *err);

#endif
