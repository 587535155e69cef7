package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// git runs the program on bare repositories in one folder.
type git struct {
	program, dir string
}

// env excludes the user's own git settings, such as their name and hooks.
func (g git) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
	}
}

func (g git) run(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Dir = g.dir
	cmd.Env = append(g.env(), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// create makes a bare repository unless there is one.
func (g git) create(ctx context.Context, repository string) error {
	path := g.path(repository)
	if _, err := os.Stat(filepath.Join(path, "HEAD")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := g.run(ctx, nil, "init", "--quiet", "--bare", "--initial-branch", branch, path); err != nil {
		return err
	}
	_, err := g.run(ctx, nil, "--git-dir", path, "config", "http.receivepack", "true")
	return err
}

// heads returns the branches with the commit of each.
func (g git) heads(ctx context.Context, repository string) (map[string]string, error) {
	out, err := g.run(ctx, nil, "--git-dir", g.path(repository), "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")
	if err != nil {
		return nil, err
	}
	heads := map[string]string{}
	for line := range strings.Lines(out) {
		name, revision, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[name] = revision
	}
	return heads, nil
}

// commit commits the files as the first commit of a repository. The same files give the same revision.
func (g git) commit(ctx context.Context, repository, message string, files fs.FS) error {
	tree, err := os.MkdirTemp(g.dir, ".seed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := os.CopyFS(tree, files); err != nil {
		return err
	}
	const when = "2026-01-01T00:00:00Z"
	env := []string{
		"GIT_DIR=" + g.path(repository), "GIT_WORK_TREE=" + tree, "GIT_INDEX_FILE=" + tree + ".index",
		"GIT_AUTHOR_NAME=lab", "GIT_AUTHOR_EMAIL=lab@lab.invalid", "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=lab", "GIT_COMMITTER_EMAIL=lab@lab.invalid", "GIT_COMMITTER_DATE=" + when,
	}
	defer os.Remove(tree + ".index")
	if _, err := g.run(ctx, env, "add", "--all", "."); err != nil {
		return err
	}
	_, err = g.run(ctx, env, "commit", "--quiet", "--message", message)
	return err
}

// change is a branch that a push moved; without a revision the branch was deleted.
type change struct {
	branch, revision string
}

// changes returns the branches that differ, ordered by name.
func changes(before, after map[string]string) []change {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var found []change
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before[name] != after[name] {
			found = append(found, change{branch: name, revision: after[name]})
		}
	}
	return found
}
