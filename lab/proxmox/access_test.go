package proxmox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoIsNotKnownIsToldSo(t *testing.T) {
	b := newBench(t)
	for token, status := range map[string]string{
		"":                     "401 No ticket",
		"sluice@pve":           "401 invalid PVE API token",
		"nobody@pve!lab=x":     "401 no such user ('nobody@pve')",
		"sluice@pve!other=x":   "401 no such token 'other' for user 'sluice@pve'",
		"sluice@pve!lab=wrong": "401 invalid token value!",
	} {
		require.Equal(t, status, b.ask(token, "GET", "/version").status)
	}
}

// account creates a user with a token, and returns the token.
func (b *bench) account(name, separate string) string {
	b.t.Helper()
	b.do("POST", "/access/users", "userid="+name)
	made := b.do("POST", "/access/users/"+name+"/token/t", "privsep="+separate).(map[string]any)
	require.Equal(b.t, name+"!t", made["full-tokenid"])
	require.NotContains(b.t, b.object("/access/users/"+name+"/token/t"), "value", "the secret is shown only once")
	return name + "!t=" + made["value"].(string)
}

func TestPrivilegesAreThoseOfThePath(t *testing.T) {
	b := newBench(t)
	token := b.account("a@pve", "0")
	status := func(method, path string, parameters ...string) string {
		return b.ask(token, method, path, parameters...).status
	}
	require.Equal(t, "403 Permission check failed (/vms/300, VM.Allocate)", status("POST", "/nodes/pve/qemu", "vmid=300"))
	b.do("POST", "/access/roles", "roleid=Maker", "privs=VM.Allocate VM.Config.Options,VM.Audit")
	b.do("PUT", "/access/acl", "path=/vms", "roles=Maker", "users=a@pve")
	require.Equal(t, "403 Permission check failed (/vms/300, VM.Config.CPU)", status("POST", "/nodes/pve/qemu", "vmid=300", "cores=2"))
	require.Equal(t, "403 Permission check failed (/, Sys.Modify)", status("POST", "/nodes/pve/qemu", "vmid=300", "startup=order=1"))
	require.Equal(t, "500 only root can set 'args' config", status("POST", "/nodes/pve/qemu", "vmid=300", "args=-x"))
	require.Equal(t, "200 OK", status("POST", "/nodes/pve/qemu", "vmid=300", "name=one"))

	b.do("PUT", "/access/acl", "path=/vms", "roles=Maker", "users=a@pve", "propagate=0")
	require.Equal(t, "403 Permission check failed (/vms/301, VM.Allocate)", status("POST", "/nodes/pve/qemu", "vmid=301"), "what does not propagate applies only there")
	b.do("POST", "/pools", "poolid=talos")
	b.do("PUT", "/access/acl", "path=/pool/talos", "roles=Maker", "users=a@pve")
	require.Equal(t, "200 OK", status("POST", "/nodes/pve/qemu", "vmid=301", "pool=talos"), "a pool gives what it has to its machines")
	require.Equal(t, "403 Permission check failed (/vms/302, VM.Allocate)", status("POST", "/nodes/pve/qemu", "vmid=302"))

	b.do("PUT", "/access/acl", "path=/", "roles=PVEAuditor", "users=a@pve")
	require.Equal(t, "200 OK", status("GET", "/cluster/status"))
	b.do("PUT", "/access/acl", "path=/", "roles=PVEAuditor", "users=a@pve", "delete=1")
	require.Equal(t, "403 Permission check failed (/, Sys.Audit)", status("GET", "/cluster/status"))
}

func TestDisksAndCardsNeedTheirPrivileges(t *testing.T) {
	b := newBench(t)
	image := b.image("pve", agentSchematic, "metal-amd64.qcow2")
	token := b.account("a@pve", "0")
	b.do("PUT", "/access/acl", "path=/vms", "roles=PVEVMAdmin", "users=a@pve")
	status := func(parameters ...string) string {
		return b.ask(token, "POST", "/nodes/pve/qemu", append([]string{"vmid=300"}, parameters...)...).status
	}
	require.Equal(t, "403 Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)", status("net0=virtio,bridge=vmbr0"))
	require.Equal(t, "403 Permission check failed (/sdn/zones/localnetwork/vmbr0/20, SDN.Use)", status("net0=virtio,bridge=vmbr0,tag=20"))
	require.Equal(t, "403 Permission check failed (/storage/local-lvm, Datastore.AllocateSpace)", status("scsi0=local-lvm:8"))
	b.do("PUT", "/access/acl", "path=/storage/local-lvm", "roles=PVEDatastoreUser", "users=a@pve")
	require.Equal(t, "403 Permission check failed (/storage/local, Datastore.Audit|Datastore.AllocateSpace)", status("scsi0=local-lvm:0,import-from="+image))
	require.Equal(t, "200 OK", status("scsi0=local-lvm:8"))
	require.Equal(t, "403 Permission check failed (/, Sys.Audit|Sys.Modify)", b.ask(token, "GET", "/nodes/pve/query-url-metadata", "url=https://x/image/y").status)
}

func TestATokenWithPrivilegesOfItsOwnHasNoMoreThanItsUser(t *testing.T) {
	b := newBench(t)
	token := b.account("a@pve", "1")
	path := "/cluster/status"
	b.do("PUT", "/access/acl", "path=/", "roles=PVEAuditor", "users=a@pve")
	require.Equal(t, "403 Permission check failed (/, Sys.Audit)", b.ask(token, "GET", path).status)
	b.do("PUT", "/access/acl", "path=/", "roles=PVEAuditor", "tokens=a@pve!t")
	require.Equal(t, "200 OK", b.ask(token, "GET", path).status)
	b.do("PUT", "/access/acl", "path=/", "roles=PVEAuditor", "users=a@pve", "delete=1")
	require.Equal(t, "403 Permission check failed (/, Sys.Audit)", b.ask(token, "GET", path).status)
}

func TestUsersRolesAndTokensComeAndGo(t *testing.T) {
	b := newBench(t)
	b.refused("500 create role failed: role 'PVEAdmin' already exists", "POST", "/access/roles", "roleid=PVEAdmin", "privs=VM.Audit")
	b.refused("500 auto-generated role 'PVEAdmin' cannot be modified", "DELETE", "/access/roles/PVEAdmin")
	told := b.refused("400 Parameter verification failed.", "POST", "/access/roles", "roleid=R", "privs=VM.Everything")
	require.Equal(t, map[string]string{"privs": "invalid format - invalid privilege 'VM.Everything'\n"}, told.errors)
	b.do("POST", "/access/roles", "roleid=R", "privs=VM.Audit")
	b.do("PUT", "/access/roles/R", "privs=VM.Console")
	require.Equal(t, map[string]any{"VM.Console": 1.0}, b.get("/access/roles/R"))
	b.refused("500 role 'S' does not exist", "PUT", "/access/acl", "path=/", "roles=S", "users=root@pam")

	token := b.account("a@pve", "0")
	b.refused("500 create user failed: user 'a@pve' already exists", "POST", "/access/users", "userid=a@pve")
	b.do("PUT", "/access/users/a@pve", "comment=Ann", "enable=1")
	require.Subset(t, b.object("/access/users/a@pve"), map[string]any{"comment": "Ann", "enable": 1.0})
	b.do("PUT", "/access/users/a@pve", "enable=0")
	require.Equal(t, "401 user 'a@pve' is disabled", b.ask(token, "GET", "/version").status)
	b.do("PUT", "/access/users/a@pve", "enable=1")
	b.do("PUT", "/access/users/a@pve/token/t", "comment=mine")
	require.Equal(t, []any{map[string]any{"tokenid": "t", "comment": "mine", "expire": 0.0, "privsep": 0.0}}, b.get("/access/users/a@pve/token"))
	b.do("PUT", "/access/acl", "path=/", "roles=R", "users=a@pve", "tokens=a@pve!t")
	require.Len(t, b.get("/access/acl"), 3)
	b.do("DELETE", "/access/users/a@pve/token/t")
	require.Equal(t, "401 no such token 't' for user 'a@pve'", b.ask(token, "GET", "/version").status)
	require.Len(t, b.get("/access/acl"), 2)
	b.do("DELETE", "/access/users/a@pve")
	require.Len(t, b.get("/access/acl"), 1)
	b.do("DELETE", "/access/roles/R")
	b.refused("500 role 'R' does not exist", "GET", "/access/roles/R")
	b.refused("500 no such user ('a@pve')", "GET", "/access/users/a@pve")
	require.Contains(t, b.get("/access/permissions").(map[string]any)["/"], "VM.Allocate")
}

func TestPoolsHaveMembers(t *testing.T) {
	b := newBench(t)
	b.refused("500 pool 'talos' does not exist", "POST", "/nodes/pve/qemu", "vmid=300", "pool=talos")
	b.do("POST", "/pools", "poolid=talos", "comment=Nodes")
	b.refused("500 create pool failed: pool 'talos' already exists", "POST", "/pools", "poolid=talos")
	require.Equal(t, "OK", b.run("POST", "/nodes/pve/qemu", "vmid=300", "pool=talos"))
	require.Equal(t, "OK", b.run("POST", "/nodes/pve/qemu", "vmid=301"))
	b.do("PUT", "/pools", "poolid=talos", "vms=301")
	require.Len(t, b.get("/pools", "poolid=talos").([]any)[0].(map[string]any)["members"], 2)
	b.refused("500 delete pool failed: pool 'talos' is not empty (contains VM 300)", "DELETE", "/pools", "poolid=talos")
	b.do("PUT", "/pools/talos", "vms=300,301", "delete=1")
	b.refused("500 update pool failed: VM 301 is not a pool member", "PUT", "/pools", "poolid=talos", "vms=301", "delete=1")
	b.do("DELETE", "/pools", "poolid=talos")
	require.Empty(t, b.get("/pools"))
}

func TestWhatACallerMayUseIsListed(t *testing.T) {
	b := newBench(t)
	token := b.account("a@pve", "0")
	list := func(path string, parameters ...string) any {
		said := b.ask(token, "GET", path, parameters...)
		require.Equal(t, "200 OK", said.status)
		return said.data
	}
	for _, path := range []string{"/nodes/pve/network", "/nodes/pve/storage", "/cluster/resources"} {
		require.Empty(t, list(path, "type=vm"), path)
	}
	b.do("PUT", "/access/acl", "path=/sdn/zones/localnetwork/vmbr0", "roles=PVESDNUser", "users=a@pve")
	require.Len(t, list("/nodes/pve/network", "type=any_bridge"), 1)
	require.Empty(t, list("/nodes/pve/network", "type=bond"))
	b.do("PUT", "/access/acl", "path=/storage/local-lvm", "roles=PVEDatastoreUser", "users=a@pve")
	require.Len(t, list("/nodes/pve/storage"), 1)
}

func TestACallerAsksWhatItMayDoOnAPath(t *testing.T) {
	b := newBench(t)
	token := b.account("a@pve", "0")
	asked := func(path string) any { return b.ask(token, "GET", "/access/permissions", "path="+path).data }
	require.Equal(t, map[string]any{"/vms/300": map[string]any{}}, asked("/vms/300"), "also where it may do nothing")
	b.do("POST", "/access/roles", "roleid=Maker", "privs=VM.Allocate VM.Audit")
	b.do("PUT", "/access/acl", "path=/vms", "roles=Maker", "users=a@pve")
	require.Equal(t, map[string]any{"/vms/300": map[string]any{"VM.Allocate": 1.0, "VM.Audit": 1.0}}, asked("/vms/300"))
}

func TestAnIDThatIsInUseIsRefusedAlsoToWhoDoesNotSeeIt(t *testing.T) {
	b := newBench(t)
	token := b.account("a@pve", "0")
	b.do("POST", "/nodes/pve/qemu", "vmid=300")
	said := b.ask(token, "GET", "/cluster/nextid", "vmid=300")
	require.Equal(t, "400 Parameter verification failed.", said.status)
	require.Contains(t, said.errors["vmid"], "VM 300 already exists")
	require.Equal(t, "301", b.ask(token, "GET", "/cluster/nextid", "vmid=301").data)
}
