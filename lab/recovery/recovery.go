// Package recovery makes the data of etcd from a snapshot, with the code that Talos uses, in a process of its own: bbolt maps the file into memory, and ends
// the process if the file is shorter than it says. On a real node that is machined, whose end reboots the node.
package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
)

// Command is the argument with which a program calls Serve.
const Command = "recover-snapshot"

// Request names a snapshot and what becomes of it.
type Request struct {
	// Snapshot is a file; Data is the folder of the new database, which must be empty.
	Snapshot, Data string
	// Name and Peer are those of the only member.
	Name, Peer    string
	SkipHashCheck bool
}

// Report is the content of the snapshot.
type Report struct {
	Hash           uint32
	Revision, Size int64
	Keys           int
	// Failure is why there is no data, in Talos' words.
	Failure string
}

// String is the report as Talos logs it.
func (r Report) String() string {
	return fmt.Sprintf("recovering etcd from snapshot: hash %08x, revision %d, total keys %d, total size %d", r.Hash, r.Revision, r.Keys, r.Size)
}

// ErrCrashed is the error of a process that ended without a report.
var ErrCrashed = errors.New("the recovery of etcd crashed")

// Run recovers in a process of a program that calls Serve.
func Run(ctx context.Context, program []string, request Request) (Report, error) {
	input, err := json.Marshal(request)
	if err != nil {
		return Report{}, err
	}
	var output, words bytes.Buffer
	process := exec.CommandContext(ctx, program[0], program[1:]...)
	process.Stdin, process.Stdout, process.Stderr = bytes.NewReader(input), &output, &words
	var report Report
	if err := process.Run(); err != nil {
		if ctx.Err() != nil {
			return report, context.Cause(ctx)
		}
		first, _, _ := strings.Cut(words.String(), "\n")
		return report, fmt.Errorf("%w: %w: %s", ErrCrashed, err, first)
	}
	return report, json.Unmarshal(output.Bytes(), &report)
}

// Serve recovers as a request asks for, and writes the report.
func Serve(from io.Reader, to io.Writer) error {
	var request Request
	if err := json.NewDecoder(from).Decode(&request); err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(perform(request))
}

// perform does what Talos does, in its order.
func perform(request Request) Report {
	manager := snapshot.NewV3(zap.NewNop())
	status, err := manager.Status(request.Snapshot)
	if err != nil {
		return Report{Failure: fmt.Sprintf("error verifying snapshot: %v", err)}
	}
	report := Report{Hash: status.Hash, Revision: status.Revision, Size: status.TotalSize, Keys: status.TotalKey}
	err = manager.Restore(snapshot.RestoreConfig{
		SnapshotPath: request.Snapshot, OutputDataDir: request.Data,
		Name: request.Name, PeerURLs: []string{request.Peer}, InitialCluster: request.Name + "=" + request.Peer,
		SkipHashCheck: request.SkipHashCheck,
	})
	if err != nil {
		report.Failure = fmt.Sprintf("error recovering from the snapshot: %v", err)
	}
	return report
}
