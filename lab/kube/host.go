package kube

import (
	"context"
	"sync"
)

// host is a machine with what lies on its disk and what runs on it.
type host struct {
	name string

	mu      sync.Mutex
	etcd    *data
	images  map[string]*pull
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

// pull is one of an image, which is there once it is done.
type pull struct {
	done chan struct{}
	err  error
}

// pullOnce pulls an image that is not there. Who comes while another pulls it waits
// for that one. It says whether there was anything to do.
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

// finish notes how a pull ended; one that failed was none.
func (h *host) finish(image string, running *pull, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if running.err = err; err != nil && h.images[image] == running {
		delete(h.images, image)
	}
	close(running.done)
	return err
}
