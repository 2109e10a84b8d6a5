import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
  packages: Record<string, Record<string, unknown>>
}

test('the lock file names digests, no download addresses, and no package that runs a script on installation', () => {
  for (const [name, one] of Object.entries(packages).slice(1)) {
    expect(one, name).toHaveProperty('integrity')
    expect(one, name).not.toHaveProperty('resolved')
    expect(one, name).not.toHaveProperty('hasInstallScript')
  }
})

test('the harness names no operation: what differs between operations is in the catalogue', () => {
  const files = readdirSync(`${root}harness`, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((name) => name.endsWith('.ts'))
  expect(sources.length).toBeGreaterThan(30)
  for (const name of sources) {
    const text = readFileSync(`${root}harness/${name}`, 'utf8')
    expect(
      operations.filter(({ id }) => text.includes(`'${id}`)),
      name,
    ).toEqual([])
  }
})
