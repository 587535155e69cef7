package proxmox

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// extensions are those that a file of a kind of content may have.
var extensions = map[string]*regexp.Regexp{
	"iso":    regexp.MustCompile(`(?i)\.(iso|img)$`),
	"import": regexp.MustCompile(`(?i)\.(ova|ovf|qcow2|raw|vmdk)$`),
	"vztmpl": regexp.MustCompile(`(?i)\.tar\.(gz|xz|zst|bz2)$`),
}

// mayDownload says whether who calls may have a host fetch what is elsewhere.
func (c *Cluster) mayDownload(r *call) error {
	node := "/nodes/" + r.PathValue("node")
	if r.all(c, node, "Sys.AccessNetwork") == nil {
		return nil
	}
	return r.all(c, "/", "Sys.Audit", "Sys.Modify")
}

// get asks the Image Factory for what a URL names: whatever host the URL has,
// the lab has one factory.
func (c *Cluster) get(ctx context.Context, method, text string) (*http.Response, error) {
	asked, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(asked.Path, "/image/") {
		return nil, fmt.Errorf("500 Can't connect to %s (Temporary failure in name resolution)", asked.Host)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.Factory+asked.EscapedPath(), nil)
	if err != nil {
		return nil, err
	}
	answered, err := c.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("500 Can't connect to %s", asked.Host)
	}
	if answered.StatusCode != http.StatusOK {
		answered.Body.Close()
		return nil, fmt.Errorf("%s", answered.Status)
	}
	return answered, nil
}

// queryURL says what a host would download.
func (c *Cluster) queryURL(r *call) (any, error) {
	if err := c.mayDownload(r); err != nil {
		return nil, err
	}
	text, err := r.params.required("url")
	if err != nil {
		return nil, err
	}
	// Others go on meanwhile: the factory may take its time.
	c.mu.Unlock()
	answered, err := c.get(r.Context(), http.MethodHead, text)
	c.mu.Lock()
	if err != nil {
		return nil, failure("invalid server response: '%s'", err)
	}
	answered.Body.Close()
	name := path.Base(text)
	if _, said, err := mime.ParseMediaType(answered.Header.Get("Content-Disposition")); err == nil && said["filename"] != "" {
		name = said["filename"]
	}
	kind := answered.Header.Get("Content-Type")
	if kind == "" {
		kind = "application/octet-stream"
	}
	return map[string]any{"filename": name, "mimetype": kind, "size": answered.ContentLength}, nil
}

// download fetches an image into a storage.
func (c *Cluster) download(r *call) (any, error) {
	at := r.PathValue("storage")
	if err := r.all(c, "/storage/"+at, "Datastore.AllocateTemplate"); err != nil {
		return nil, err
	}
	if err := c.mayDownload(r); err != nil {
		return nil, err
	}
	into, err := c.storage(at)
	if err != nil {
		return nil, err
	}
	var asked [3]string
	for i, name := range []string{"content", "filename", "url"} {
		if asked[i], err = r.params.required(name); err != nil {
			return nil, err
		}
	}
	content, name, text := asked[0], asked[1], asked[2]
	pattern, known := extensions[content]
	switch {
	case !known:
		return nil, invalid("content", "value '%s' does not have a value in the enumeration 'iso, vztmpl, import'", content)
	case !into.holds(content):
		return nil, failure("storage '%s' is not configured for content-type '%s'", at, content)
	case !pattern.MatchString(name):
		return nil, invalid("filename", "wrong file extension")
	}
	to := c.at(r.PathValue("node"), at+":"+content+"/"+name)
	made := &volume{place: to, storage: at, content: content, format: strings.TrimPrefix(path.Ext(name), ".")}
	return c.start(r, job{
		kind: "download", id: name, takes: pace.ImageBuild,
		work: func(ctx context.Context, its *task) error {
			c.tell(its, "downloading %s to %s", text, c.path(made))
			if err := c.fetch(ctx, its, text, made); err != nil {
				return err
			}
			c.tell(its, "download of '%s' to '%s' finished", text, c.path(made))
			return nil
		},
		done: func(*task) error {
			if c.volumes[to] != nil {
				return failure("refusing to override existing file '%s'", c.path(made))
			}
			made.made = time.Now()
			c.volumes[to] = made
			return nil
		},
	})
}

// fetch reads a file and what it says of itself.
func (c *Cluster) fetch(ctx context.Context, its *task, text string, made *volume) error {
	answered, err := c.get(ctx, http.MethodGet, text)
	if err != nil {
		c.tell(its, "ERROR %s", err)
		return failure("download failed: %s", err)
	}
	defer answered.Body.Close()
	image, err := factory.ParseImage(answered.Body)
	if err != nil {
		return failure("download failed: %s", err)
	}
	made.bytes, made.image = answered.ContentLength, &image
	return nil
}
