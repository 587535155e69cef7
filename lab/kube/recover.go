package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
)

// errIncomplete is the lab's own error for etcd with the data of a recovery that failed: a database without a log.
var errIncomplete = errors.New("etcd: the data is from a recovery that failed")

// uploadedSnapshot is /var/lib/etcd.snapshot of a node.
func (k *Kubernetes) uploadedSnapshot(host string) string {
	return filepath.Join(k.options.Dir, "snapshots", host)
}

// UploadSnapshot writes a snapshot to the node's disk, in place of an earlier one. It is only there if all of it was read.
func (k *Kubernetes) UploadSnapshot(host string, from io.Reader) (err error) {
	path := k.uploadedSnapshot(host)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("error creating etcd recovery snapshot: %w", err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	written, err := io.Copy(file, from)
	if err == nil {
		k.record(host, "etcd", "snapshot uploaded", "bytes", fmt.Sprint(written))
	}
	return err
}

// dropSnapshot deletes the uploaded snapshot of a node.
func (k *Kubernetes) dropSnapshot(host string) {
	if err := os.Remove(k.uploadedSnapshot(host)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.options.Log.Error("delete the uploaded snapshot", "host", host, "error", err)
	}
}

// RecoverEtcd makes the uploaded snapshot the data of the node, with the node as the only member, in Talos' order and words. A snapshot that is cut off is
// recovery.ErrCrashed.
func (k *Kubernetes) RecoverEtcd(ctx context.Context, host string, spec cluster.Member, skipHashCheck bool, log func(line string)) error {
	if err := k.options.Pace.Wait(ctx, pace.Join, host); err != nil {
		return err
	}
	h, e, path := k.host(host), k.cluster(spec.Cluster).etcd, k.uploadedSnapshot(host)
	var report recovery.Report
	err := e.update(ctx, func(b *book) (err error) {
		if len(b.members) > 0 {
			// In reality this creates a second cluster next to the first, as a bootstrap would.
			return fmt.Errorf("etcd: the cluster has %d members already", len(b.members))
		}
		report, err = recovery.Run(ctx, k.options.Recovery, e.process.recovery(path, skipHashCheck))
		if err != nil {
			return err
		}
		if report.Size > 0 {
			log(report.String())
		}
		if report.Failure != "" {
			if e.process.hasData() {
				h.setEtcdData(&data{cluster: spec.Cluster})
			}
			return errors.New(report.Failure)
		}
		if err := e.process.prepare(spec); err != nil {
			return err
		}
		only, err := b.add(h.name, spec.Name, spec.Address, false)
		if err != nil {
			return err
		}
		h.setEtcdData(&data{cluster: spec.Cluster, member: only.ID})
		return b.setRunning(only.ID, false)
	})
	if err != nil {
		return err
	}
	k.record(host, "etcd", "recovered", "revision", fmt.Sprint(report.Revision), "keys", fmt.Sprint(report.Keys))
	return os.Remove(path)
}

// recovery is the request to make a snapshot the data of a process that does not run.
func (e *etcdProcess) recovery(path string, skipHashCheck bool) recovery.Request {
	return recovery.Request{Snapshot: path, Data: e.data(), Name: etcdName, Peer: e.peer(), SkipHashCheck: skipHashCheck}
}

// data is the folder of its database.
func (e *etcdProcess) data() string { return filepath.Join(e.dir, "data") }

func (e *etcdProcess) hasData() bool {
	entries, err := os.ReadDir(e.data())
	return err == nil && len(entries) > 0
}
