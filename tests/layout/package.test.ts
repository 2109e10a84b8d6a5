import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'

const json = (path: string): any =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
const about = json('package.json')
const lock = json('package-lock.json')

test('installing runs no script: ours only compiles a checkout and is not packed, and no dependency has one', () => {
  expect(
    Object.keys(about.scripts).filter((name) =>
      /^(pre|post)?(install|prepare|publish)$/.test(name),
    ),
  ).toEqual(['prepare'])
  expect(about.scripts).toMatchObject({
    prepack: expect.stringMatching(
      / cp package\.json package\.json\.whole && npm pkg delete scripts\.prepare$/,
    ),
    postpack: 'mv package.json.whole package.json',
  })
  const scripted = Object.entries<any>(lock.packages).filter(
    ([, { hasInstallScript }]) => hasInstallScript === true,
  )
  expect(scripted.map(([name]) => name)).toEqual([])
})

test('the lock file names versions and digests, and no place to fetch them from', () => {
  const packages = Object.entries<any>(lock.packages).filter(([path]) => path !== '')
  expect(
    packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
  ).toEqual([])
  expect(
    packages.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path),
  ).toEqual([])
  expect(JSON.stringify(lock)).not.toMatch(/"https?:\/\/[^"]*\.tgz"/)
})

test('the package has one command, and entries for a library, a server to try things on, and vitest', () => {
  expect(about.bin).toEqual({ conform: 'cli/bin/conform.js' })
  expect(Object.keys(about.exports)).toEqual([
    ...['.', './reference', './vitest', './vitest/reporter'],
    ...['./package.json', './schemas/*'],
  ])
  expect(about.engines.node).toBe('>=20.19')
})

test('npm ci finds every optional package of every platform in the lock file', () => {
  const paths = Object.keys(lock.packages)
  const wanted = Object.values<any>(lock.packages).flatMap((one) =>
    Object.keys(one.optionalDependencies ?? {}),
  )
  expect(
    wanted.filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`))),
  ).toEqual([])
})

test('the harness names no operation: what is different of one its record in the catalogue tells', () => {
  const harness = fileURLToPath(new URL('../../harness/', import.meta.url))
  const files = readdirSync(harness, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const named = files.flatMap((name) => {
    const text = readFileSync(harness + name, 'utf8')
    return operations.filter(({ id }) => text.includes(`'${id}`)).map(({ id }) => `${name}: ${id}`)
  })
  expect(files.length).toBeGreaterThan(50)
  expect(named).toEqual([])
})
