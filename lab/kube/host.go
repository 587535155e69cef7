package kube

import (
	"context"
	"sync"
)

// host is a machine, with its disk and what runs on it.
type host struct {
	name string

	mu      sync.Mutex
	etcd    *data
	images  map[string]*pull
	ran     map[string]*component // that of each static pod, by its name, also after its end
	static  *staticPods
	kubelet *kubelet
}

func (h *host) etcdData() *data {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.etcd
}

func (h *host) setEtcdData(d *data) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.etcd = d
}

// wipe empties the partition that holds etcd's data and the images.
func (h *host) wipe() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.etcd, h.images = nil, nil
}

// pull is the pull of an image, which exists once the pull is complete.
type pull struct {
	done chan struct{}
	err  error
}

// pullOnce pulls a missing image. If another pull of it is in progress, it waits for that one. It reports whether there was anything to do.
func (h *host) pullOnce(ctx context.Context, image string, get func() error) (pulled bool, err error) {
	for {
		h.mu.Lock()
		running := h.images[image]
		if running == nil {
			running = &pull{done: make(chan struct{})}
			if h.images == nil {
				h.images = map[string]*pull{}
			}
			h.images[image] = running
			h.mu.Unlock()
			return true, h.finish(image, running, get())
		}
		h.mu.Unlock()
		pulled = pulled || !ended(running.done)
		select {
		case <-running.done:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if running.err == nil {
			return pulled, nil
		}
	}
}

// finish records how a pull ended; a failed pull does not count.
func (h *host) finish(image string, running *pull, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if running.err = err; err != nil && h.images[image] == running {
		delete(h.images, image)
	}
	close(running.done)
	return err
}
