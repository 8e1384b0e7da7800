[watchmark]
title="Watchmark"
desc="Watchmark"
port_forward="no"
dst.ports="8787/tcp"
