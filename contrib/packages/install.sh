#!/bin/sh
# Installs Watchmark {{.Version}} as a service: systemd starts it on Linux, launchd on macOS.
#
#	sh install.sh [ADDRESS]
#
# ADDRESS is where the files of the release are: a folder, or what stands before their names in the
# browser{{if .Address}}; {{.Address}} when not given{{end}}. Run again, it upgrades.
set -eu

address='{{.Address}}'
# Who signed the release, for ssh-keygen -Y verify; empty when nobody did.
signers='{{.Signers}}'

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

# get NAME fetches a file of the release into the folder of this run.
get() {
	case $address in
	http://* | https://*)
		if command -v curl >/dev/null; then
			curl -fsSL --retry 2 -o "$folder/$1" "$address/$1"
		elif command -v wget >/dev/null; then
			wget -q -O "$folder/$1" "$address/$1"
		else
			fail "install curl or wget first"
		fi
		;;
	*) cp "$address/$1" "$folder/$1" ;;
	esac || fail "$address/$1 cannot be fetched"
}

main() {
	address=${1:-$address}
	address=${address%/}
	[ -n "$address" ] || fail "say where the files of the release are: sh install.sh ADDRESS"

	case $(uname -s) in
	Linux) system=linux ;;
	Darwin) system=darwin ;;
	*) fail "there is nothing for $(uname -s); Windows is set up by hand: docs/install/windows.md" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) system=$system-amd64 ;;
	aarch64 | arm64) system=$system-arm64 ;;
	armv7* | armv8l) system=$system-armv7 ;;
	*) fail "there is nothing for the processor $(uname -m)" ;;
	esac

	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	trap 'exit 1' HUP INT TERM # not every shell takes an end by them for an exit
	get SHA256SUMS
	if [ -z "$signers" ]; then
		echo "The release is not signed: only the checksum is compared."
	elif ! command -v ssh-keygen >/dev/null; then
		echo "ssh-keygen is not here: only the checksum is compared, not the signature."
	else
		get SHA256SUMS.sig
		echo "$signers" >"$folder/allowed_signers"
		ssh-keygen -Y verify -q -f "$folder/allowed_signers" -I watchmark -n watchmark-release -s "$folder/SHA256SUMS.sig" <"$folder/SHA256SUMS" ||
			fail "the signature is not that of who made this installer: nothing was installed"
	fi

	name=$(awk -v end="-$system" 'substr($2, length($2) - length(end) + 1) == end { print $2; exit }' "$folder/SHA256SUMS")
	[ -n "$name" ] || fail "the release has nothing for $system"
	case $name in */*) fail "SHA256SUMS names a file in a folder: nothing was installed" ;; esac
	get "$name"
	if command -v sha256sum >/dev/null; then compare=sha256sum; else compare="shasum -a 256"; fi
	(cd "$folder" && awk -v name="$name" '$2 == name' SHA256SUMS | $compare -c - >/dev/null 2>&1) ||
		fail "$name does not have its checksum: nothing was installed"
	chmod 755 "$folder/$name"

	root=
	if [ "${system%%-*}" = linux ] && [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || fail "run this as root"
		root=sudo
	fi
	if [ "${system%%-*}" = darwin ] || [ -d /run/systemd/system ]; then
		$root "$folder/$name" service install
	else
		$root install -m 0755 "$folder/$name" /usr/local/bin/watchmark
		echo "Installed as /usr/local/bin/watchmark. There is no systemd here: have your system start"
		echo "    watchmark serve --data FOLDER"
	fi
}

# The whole file is read before anything is done: half a download does nothing.
main "$@"
