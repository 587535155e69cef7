package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal starts a command in a terminal of its own and gives the side of the
// one who sits at it.
func terminal(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, person.Close()) })
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer program.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	return person
}

// readUntil reads what is shown until a line has some text.
func readUntil(t *testing.T, shown *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := shown.ReadString('\n')
		require.NoError(t, err)
		if strings.Contains(line, text) {
			return strings.TrimSpace(line)
		}
	}
}

func TestExecInATerminal(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	script := `n=10; trap 'n=$((n+1))' INT; echo ready; while [ $n = 10 ]; do :; done; read answer; echo "$answer, $n"; exit $n`
	cmd := command(t, dir, "exec", "--", "sh", "-c", script)
	person := terminal(t, cmd)
	shown := bufio.NewReader(person)
	readUntil(t, shown, "ready")
	const interrupt = "\x03"
	_, err := person.WriteString(interrupt)
	require.NoError(t, err)
	_, err = person.WriteString("yes\n")
	require.NoError(t, err)
	require.Equal(t, "yes, 11", readUntil(t, shown, ","), "it got one interrupt, and what was typed")
	require.EqualError(t, cmd.Wait(), "exit status 11")
}

func TestATerminalIsGivenBack(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	script := fmt.Sprintf(`%s exec --dir %s -- sh -c 'exit 4'; echo "code $?"; read answer && echo "still reads $answer"`, os.Args[0], dir)
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	person := terminal(t, cmd)
	shown := bufio.NewReader(person)
	readUntil(t, shown, "code 4")
	_, err := person.WriteString("on\n")
	require.NoError(t, err)
	readUntil(t, shown, "still reads on")
	require.NoError(t, cmd.Wait())
}

func TestShellInATerminal(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	cmd := command(t, dir, "shell")
	cmd.Env = append(cmd.Env, "SHELL=/bin/bash", "TERM=dumb")
	person := terminal(t, cmd)
	shown := bufio.NewReader(person)
	_, err := person.WriteString("echo options=$-\n")
	require.NoError(t, err)
	options := readUntil(t, shown, "options=h")
	require.Contains(t, strings.TrimPrefix(options, "options="), "m", "it has job control")
	_, err = person.WriteString("exit 6\n")
	require.NoError(t, err)
	require.EqualError(t, cmd.Wait(), "exit status 6")
}
