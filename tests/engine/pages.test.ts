import { expect, test } from 'vitest'
import { byCause } from '../../reporters/view/causes.ts'
import { html, json, judgeBehind } from './behind.ts'

const only = ['files.*', 'translate.run/*', 'envelope/shape']
const titles: Readonly<Record<number, string>> = {
  400: '400 Bad Request',
  401: '401 Unauthorized',
  404: '404 Not Found',
}

test('pages in place of envelopes are shown as what they are, counted in one line, and one cause', async () => {
  const { report, terminal } = await judgeBehind(
    async (_, answer) => {
      const own = await answer()
      return own.status >= 400 ? html(own.status, titles[own.status] ?? `${own.status} Error`) : own
    },
    // Which error comes first is a matter of chance: all of them are refusals.
    { only, skip: ['*/5*', '*/429-*'] },
  )
  const shape = report.requirements.find(({ id }) => id === 'envelope/shape')
  expect(shape?.failures[0]?.actual).toMatch(/^4\d\d with a page: 4\d\d [\w ]+, nginx\/1\.22\.1$/)
  const bare = report.requirements.filter(({ failures: [failure] }) => failure?.noEnvelope)
  expect(bare.length).toBeGreaterThan(4)
  for (const { failures } of bare)
    expect(failures[0]?.actual).toMatch(
      /; the status is right, but this is no error envelope: see envelope\/shape$/,
    )
  const musts = bare.filter(({ level }) => level === 'must')
  const cause = byCause(report.requirements.filter(({ outcome }) => outcome === 'failed')).find(
    ({ first }) => first.id === musts[0]?.id,
  )
  expect(cause?.others).toHaveLength(musts.length - 1)
  const times = report.run.pages?.reduce((sum, page) => sum + page.times, 0)
  expect(report.run.pages).toContainEqual(
    expect.objectContaining({ status: 401, title: '401 Unauthorized', server: 'nginx/1.22.1' }),
  )
  expect(terminal()).toContain(
    `pages: ${times} error responses were pages in place of an envelope: ${report.run.pages?.[0]?.times} × ${report.run.pages?.[0]?.title} (nginx/1.22.1), `,
  )
})

test('JSON that is no envelope is one cause too, and no page', async () => {
  const { report } = await judgeBehind(
    async (_, answer) => {
      const own = await answer()
      return own.status >= 400 ? json(own.status, { detail: 'no' }) : own
    },
    { only },
  )
  const bare = report.requirements.filter(({ failures: [failure] }) => failure?.noEnvelope)
  expect(bare.length).toBeGreaterThan(4)
  expect(report.run.pages).toBeUndefined()
})

test('an envelope of a wrong name, or of a wrong status, is not told as none', async () => {
  const { report } = await judgeBehind(
    async (_, answer) => {
      const own = await answer()
      return own.status >= 400 ? json(418, { tpe: 'Teapot', errors: [], extras: {} }) : own
    },
    { only },
  )
  expect(
    report.requirements.some(({ failures }) => failures.some(({ noEnvelope }) => noEnvelope)),
  ).toBe(false)
})
