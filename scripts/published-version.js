// npm run published: adds this version of the suite to those whose certificates later versions know; part of `npm version`.
// With --check it only looks: a release whose version is missing, or stands there with other requirements, is none.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

const path = fileURLToPath(new URL('../certificate/published-versions.json', import.meta.url))
const { ownVersion } = await createJiti(import.meta.url).import('../certificate/suite-facts.ts')
const own = ownVersion()
const published = JSON.parse(readFileSync(path, 'utf8'))
const there = published.find(({ version }) => version === own.version)

if (there !== undefined && JSON.stringify(there) !== JSON.stringify(own)) {
  console.error(`${own.version} is published with other requirements; raise the version`)
  process.exitCode = 1
} else if (there === undefined && process.argv.includes('--check')) {
  console.error(
    `${own.version} is not in certificate/published-versions.json; npm run published adds it`,
  )
  process.exitCode = 1
} else if (there === undefined) {
  writeFileSync(path, `${JSON.stringify([...published, own], null, 2)}\n`)
}
