// Has a command run, waits for its end, and then asks for the time that it has left, which is an error by then. The
// package orgbgtaskdtasks is generated: docs/clients.md says how.
//
//	submit COMMAND [ARGUMENT...]
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	tasks "submit/orgbgtaskdtasks"

	"github.com/varlink/go/varlink"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: submit COMMAND [ARGUMENT...]")
	}
	socket := os.Getenv("BGTASK_SOCKET")
	if socket == "" {
		socket = "/run/bgtaskd/org.bgtaskd"
	}
	ctx := context.Background()
	daemon, err := varlink.NewConnection(ctx, "unix:"+socket)
	if err != nil {
		log.Fatal(err)
	}
	defer daemon.Close()

	command := os.Args[1:]
	work := tasks.Work{
		Name:    "submit.go",
		Command: &command,
		Budget:  &tasks.Budget{DurationMs: 60_000, GraceMs: 5_000},
	}
	id, receipt, _, _, err := tasks.Submit().Call(ctx, daemon, work)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("task %d: %s\n", id, receipt)

	// What may be left out is a pointer: the time to wait at most, and whether it may be another user's task.
	task, err := tasks.Wait().Call(ctx, daemon, id, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("its end: %s\n", *task.Outcome)
	if task.Exit != nil && task.Exit.Status != nil {
		fmt.Printf("its status: %d\n", *task.Exit.Status)
	}

	_, err = tasks.RemainingTime().Call(ctx, daemon, id, nil)
	var ended *tasks.AlreadyEnded
	if errors.As(err, &ended) {
		fmt.Printf("no time is left: task %d has ended, %s\n", ended.Id, ended.Outcome)
	} else {
		log.Fatalf("unexpected: %v", err)
	}
}
