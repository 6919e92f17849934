# For tests of the service as it is installed: its socket, and users. Sourced by them; where systemd does not run,
# the socket is opened as systemd does it, and the first program that connects starts the service.
set -eu
EXAMPLES=/usr/share/doc/fusiond/examples
SOCKET=/run/fusiond/fusiond.sock
WORK=$(mktemp -d)
chmod 755 "$WORK"
SERVICE=""

stop_service() {
    if [ -d /run/systemd/system ]; then
        systemctl stop fusiond.socket fusiond.service
    elif [ -n "$SERVICE" ]; then
        kill "$SERVICE"
        wait "$SERVICE" || true
        SERVICE=""
    fi
    rm -f "$SOCKET"
}

start_service() {
    if [ -d /run/systemd/system ]; then
        systemctl start fusiond.socket
        return
    fi
    install -d -o nobody -g nogroup -m 755 /run/fusiond "$WORK/cache"
    setpriv --reuid nobody --regid nogroup --clear-groups systemd-socket-activate --listen="$SOCKET" \
        --setenv=CACHE_DIRECTORY="$WORK/cache" /usr/bin/fusiond --foreground 2> "$WORK/log" &
    SERVICE=$!
    for i in $(seq 100); do
        [ -S "$SOCKET" ] && break
        sleep 0.1
    done
    chmod 666 "$SOCKET"
}

# as USER COMMAND...
as() {
    user=$1
    shift
    setpriv --reuid "$user" --regid "$user" --clear-groups env HOME="/home/$user" "$@"
}

add_user() {
    id "$1" > /dev/null 2>&1 || useradd --create-home "$1"
}

fail() {
    echo "FAILED: $*"
    cat "$WORK/log" 2> /dev/null || true
    exit 1
}

clean_up() {
    stop_service
    rm -rf "$WORK"
}
