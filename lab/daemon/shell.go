package daemon

import (
	"fmt"
	"os"
	"path/filepath"
)

// Shell returns the command that opens a shell, with a prompt that names the lab.
func (f Folder) Shell(shell string) (args, env []string, err error) {
	if shell == "" {
		shell = "/bin/sh"
	}
	prompt := "(lab " + filepath.Base(string(f)) + ") "
	if filepath.Base(shell) != "bash" {
		return []string{shell, "-i"}, []string{"PS1=" + prompt + "$ "}, nil
	}
	// Bash replaces a prompt from the environment when it reads its own settings.
	settings := fmt.Sprintf("[ -f ~/.bashrc ] && . ~/.bashrc\nPS1=%q\"$PS1\"\n", prompt)
	if err := os.WriteFile(f.Path(shellFile), []byte(settings), 0o600); err != nil {
		return nil, nil, err
	}
	return []string{shell, "--rcfile", f.Path(shellFile), "-i"}, nil, nil
}
