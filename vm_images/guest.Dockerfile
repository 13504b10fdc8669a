ARG PARENT
FROM ${PARENT}

COPY lib/ /opt/practicum/

RUN python3 -m compileall -q /opt/practicum \
 && dpkg-query --show --showformat '${Package}\t${Version}\n' > /usr/share/desk/packages.tsv
