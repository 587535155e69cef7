package hardware

import (
	"context"

	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
)

// Meta gives Talos' own controllers the META partition.
func (h *Hardware) Meta() talosruntime.Meta { return metaTags{h} }

type metaTags struct{ of *Hardware }

// ReadTag implements runtime.Meta, as all that follows.
func (m metaTags) ReadTag(tag uint8) (string, bool) {
	value, there := m.of.boot.Disk.Meta()[tag]
	return value, there
}

func (m metaTags) ReadTagBytes(tag uint8) ([]byte, bool) {
	value, there := m.ReadTag(tag)
	return []byte(value), there
}

func (m metaTags) SetTag(_ context.Context, tag uint8, value string) (bool, error) {
	return true, m.of.SetMeta(tag, &value)
}

func (m metaTags) SetTagBytes(ctx context.Context, tag uint8, value []byte) (bool, error) {
	return m.SetTag(ctx, tag, string(value))
}

func (m metaTags) DeleteTag(_ context.Context, tag uint8) (bool, error) {
	_, there := m.ReadTag(tag)
	return there, m.of.SetMeta(tag, nil)
}

func (m metaTags) Reload(context.Context) error { return nil }
func (m metaTags) Flush() error                 { return nil }
