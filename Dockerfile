# conform in a container: docs/standalone.md.
FROM node:24-alpine AS build
WORKDIR /suite
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run --silent standalone

FROM node:24-alpine
COPY --from=build /suite/standalone/conform.mjs /usr/local/lib/conform.mjs
USER node
WORKDIR /work
ENTRYPOINT ["node", "/usr/local/lib/conform.mjs"]
