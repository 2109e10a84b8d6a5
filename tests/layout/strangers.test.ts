import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { strangersPage } from '../../scripts/strangers/page.ts'
import { strangers } from '../../scripts/strangers/servers.ts'
import { operations } from '../../catalogue/operations.ts'
import { failed, report, result } from '../gates/results.ts'

const page = (name: string, rows: Parameters<typeof report>[0]): string =>
  strangersPage(
    [{ stranger: { name, needs: 'a-mock@1.0.0', about: 'a mock server' }, report: report(rows) }],
    '2026-01-15',
  )

test('a cell has what passed of what could be tested, and why it failed stands below', () => {
  const text = page('Mock', [
    failed('jobs.create/404-unknown-application'),
    result('jobs.create/202-created'),
    result('files.list/2xx-accepted', { outcome: 'not-exercised', reason: 'declare it' }),
  ])
  expect(text).toContain('Judged on 2026-01-15 by version ')
  expect(text).toMatch(/\| `jobs\.create` +\| 1\/2 +\|/)
  expect(text).toMatch(/\| `files\.list` +\| not tested +\|/)
  expect(text).toMatch(/\| `chat\.create` +\| absent +\|/)
  expect(text).toContain('`a-mock@1.0.0`, a mock server. 1 of 2 musts that could be tested passed')
  expect(text).toMatch(/- 1 failure for other reasons\./)
})

// Made by `npm run strangers`, from a network: an operation that is newer than the page does not stand there yet.
test('the page in the repository has every stranger with its version, and operations that there are', () => {
  const text = readFileSync(new URL('../../docs/strangers.md', import.meta.url), 'utf8')
  for (const { name, needs } of strangers) {
    expect(text).toContain(`### ${name}\n`)
    if (needs !== undefined) expect(text).toContain(`\`${needs}\``)
  }
  const shown = [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, id]) => id)
  expect(shown.length).toBeGreaterThan(15)
  expect(operations.map(({ id }) => id as string).filter((id) => shown.includes(id))).toEqual(shown)
})
