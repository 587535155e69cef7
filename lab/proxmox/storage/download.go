package storage

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
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
)

// extensions are those that a file of a kind of content may have.
var extensions = map[string]*regexp.Regexp{
	"iso":    regexp.MustCompile(`(?i)\.(iso|img)$`),
	"import": regexp.MustCompile(`(?i)\.(ova|ovf|qcow2|raw|vmdk)$`),
	"vztmpl": regexp.MustCompile(`(?i)\.tar\.(gz|xz|zst|bz2)$`),
}

// factoryClient requests images from the lab's Image Factory. It is used without the
// lock.
type factoryClient struct {
	endpoint string
	client   *http.Client
}

// request asks for what a URL names. Whatever host is in the URL, the lab has one
// factory.
func (f factoryClient) request(ctx context.Context, method, text string) (*http.Response, error) {
	asked, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(asked.Path, "/image/") {
		return nil, fmt.Errorf("500 Can't connect to %s (Temporary failure in name resolution)", asked.Host)
	}
	request, err := http.NewRequestWithContext(ctx, method, f.endpoint+asked.EscapedPath(), nil)
	if err != nil {
		return nil, err
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("500 Can't connect to %s", asked.Host)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s", response.Status)
	}
	return response, nil
}

// checkDownload returns an error if the caller may not have a host download
// anything.
func checkDownload(r *api.Call) error {
	node := "/nodes/" + r.PathValue("node")
	if r.All(node, "Sys.AccessNetwork") == nil {
		return nil
	}
	return r.All("/", "Sys.Audit", "Sys.Modify")
}

// queryURL shows what a host would download.
func (s *Storages) queryURL(r *api.Call) (any, error) {
	if err := checkDownload(r); err != nil {
		return nil, err
	}
	text, err := r.Params.Required("url")
	if err != nil {
		return nil, err
	}
	// Other requests are served in the meantime: the factory may be slow.
	s.datacenter.Unlock()
	response, err := s.factory.request(r.Context(), http.MethodHead, text)
	s.datacenter.Lock()
	if err != nil {
		return nil, api.Failure("invalid server response: '%s'", err)
	}
	response.Body.Close()
	name := path.Base(text)
	if _, said, err := mime.ParseMediaType(response.Header.Get("Content-Disposition")); err == nil && said["filename"] != "" {
		name = said["filename"]
	}
	kind := response.Header.Get("Content-Type")
	if kind == "" {
		kind = "application/octet-stream"
	}
	return map[string]any{"filename": name, "mimetype": kind, "size": response.ContentLength}, nil
}

// download downloads an image into a storage.
func (s *Storages) download(r *api.Call) (any, error) {
	at := r.PathValue("storage")
	if err := r.All("/storage/"+at, "Datastore.AllocateTemplate"); err != nil {
		return nil, err
	}
	if err := checkDownload(r); err != nil {
		return nil, err
	}
	into, err := s.Get(at)
	if err != nil {
		return nil, err
	}
	var asked [3]string
	for i, name := range []string{"content", "filename", "url"} {
		if asked[i], err = r.Params.Required(name); err != nil {
			return nil, err
		}
	}
	content, name, text := asked[0], asked[1], asked[2]
	pattern, known := extensions[content]
	switch {
	case !known:
		return nil, api.Invalid("content", "value '%s' does not have a value in the enumeration 'iso, vztmpl, import'", content)
	case !into.Holds(content):
		return nil, api.Failure("storage '%s' is not configured for content-type '%s'", at, content)
	case !pattern.MatchString(name):
		return nil, api.Invalid("filename", "wrong file extension")
	}
	made := &Volume{
		Place: s.at(r.PathValue("node"), at+":"+content+"/"+name), Storage: at, Content: content,
		format: strings.TrimPrefix(path.Ext(name), "."),
	}
	to := s.volumePath(made)
	return s.tasks.Start(r, task.Job{
		Kind: "download", ID: name, Takes: pace.ImageBuild,
		Work: func(ctx context.Context, its *task.Task) error {
			s.tasks.Logf(its, "downloading %s to %s", text, to)
			if err := s.fetch(ctx, its, text, made); err != nil {
				return err
			}
			s.tasks.Logf(its, "download of '%s' to '%s' finished", text, to)
			return nil
		},
		Done: func(*task.Task) error {
			if s.volumes[made.Place] != nil {
				return api.Failure("refusing to override existing file '%s'", to)
			}
			made.made = time.Now()
			s.volumes[made.Place] = made
			return nil
		},
	})
}

// fetch reads an image, and what it says of itself. It is called without the lock.
func (s *Storages) fetch(ctx context.Context, its *task.Task, text string, made *Volume) error {
	response, err := s.factory.request(ctx, http.MethodGet, text)
	if err != nil {
		s.tasks.Logf(its, "ERROR %s", err)
		return api.Failure("download failed: %s", err)
	}
	defer response.Body.Close()
	image, err := factory.ParseImage(response.Body)
	if err != nil {
		return api.Failure("download failed: %s", err)
	}
	made.Bytes, made.Image = response.ContentLength, &image
	return nil
}
