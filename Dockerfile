# The program as "go run ./internal/tools/release" builds it, and nothing else: no shell, no packages.
# Certificates and time zones are inside it.
FROM scratch
ARG TARGETARCH
ARG TARGETVARIANT
LABEL org.opencontainers.image.title="Watchmark" \
      org.opencontainers.image.description="Marks what you watch on Plex, Emby, Jellyfin and others on your anime list" \
      org.opencontainers.image.licenses="MIT"
COPY --chmod=0755 dist/watchmark-*-linux-${TARGETARCH}${TARGETVARIANT} /watchmark
# It starts as root, gives PUID and PGID the data folder, and becomes them before it does anything else.
ENV PUID=1000 PGID=1000 WATCHMARK_CONTAINER=true WATCHMARK_DATA=/data WATCHMARK_SERVER_LISTEN=0.0.0.0:8787
WORKDIR /data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=10s --start-period=1m CMD ["/watchmark", "health"]
ENTRYPOINT ["/watchmark"]
CMD ["serve"]
