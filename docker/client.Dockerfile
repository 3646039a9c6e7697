# The Python client with `evaluate`, `compare` and `verify`, for jobs beside servers. From the top of the repository:
#
#   docker build -f docker/client.Dockerfile -t eipc-client --build-arg COMMIT=$(git rev-parse HEAD) .
#   docker run --rm --read-only --tmpfs /tmp --cap-drop ALL -v $PWD:/work eipc-client \
#     evaluate --policy my_policy --scenes scene.textproto --episodes 100 --server eipc-0.eipc:50051 --out out
FROM debian:bookworm-slim
ARG COMMIT=unknown
# The client needs no GPL part; its source is under Apache-2.0.
LABEL org.opencontainers.image.title="eipc-client" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.description="Python client of eipc: sessions, environments, evaluation"
COPY docker/stages.sh /tmp/stages.sh
COPY LICENSE /usr/share/eipc/
COPY client/python /src/client/python
COPY proto /src/proto
RUN /tmp/stages.sh install-client /src && /tmp/stages.sh sbom / eipc-client "${COMMIT}" && rm -r /tmp/stages.sh /src
USER eipc
WORKDIR /work
ENV PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=/tmp XDG_CACHE_HOME=/tmp
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/bin/python3", "-m", "eipc.cli"]
