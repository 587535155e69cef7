package gitops

import (
	"context"
	"fmt"
	"io/fs"
)

// Seed gives a repository its first commit, with these files, on main. A repository that has commits is not changed.
func (s *Server) Seed(ctx context.Context, repository string, files fs.FS) error {
	lock := s.lock(repository)
	lock.Lock()
	defer lock.Unlock()
	if err := s.git.create(ctx, repository); err != nil {
		return fmt.Errorf("seeding repository %s: %w", repository, err)
	}
	heads, err := s.git.heads(ctx, repository)
	if err != nil || len(heads) > 0 {
		return err
	}
	if err := s.git.commit(ctx, repository, "Sample of the lab", files); err != nil {
		return fmt.Errorf("seeding repository %s: %w", repository, err)
	}
	if heads, err = s.git.heads(ctx, repository); err != nil {
		return err
	}
	s.timeline.Record(Subject, "push", repository, "branch", branch, "revision", heads[branch])
	return nil
}
