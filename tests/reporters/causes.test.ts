import { expect, test } from 'vitest'
import type { Failure, RequirementResult } from '../../harness/report/report-schema.ts'
import { renderCtrf } from '../../reporters/ctrf.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { byCause, idsOf } from '../../reporters/view/causes.ts'
import { failed, report, result } from '../gates/results.ts'
import { inTerminal, inHtml } from './shown.ts'

const groups = (...rows: RequirementResult[]) => byCause(rows).map(idsOf)
const one = (id: string, change: Partial<Failure> = {}) => failed(id, change)

test('failures of several operations that share expectation and answer are one cause', () => {
  expect(groups(one('a.b/401'), one('c.d/401'), one('e.f/401'))).toEqual([
    ['a.b/401', 'c.d/401', 'e.f/401'],
  ])
  const said = (id: string, text: string) => one(id, { actual: `404 NotFound ${text}` })
  expect(groups(said('a.b/401', 'no such job'), said('c.d/401', 'no such file'))).toHaveLength(1)
  const cites = (id: string, told: string) =>
    one(id, { expected: `404 ResourceNotFound${told}`, cites: told })
  expect(groups(cites('a.b/401', ' (§4.2, §7.3)'), cites('c.d/401', ' (§5)'))).toHaveLength(1)
})

test('failures of one operation, or that differ, stand by themselves', () => {
  expect(groups(one('a.b/1'), one('a.b/2'))).toEqual([['a.b/1'], ['a.b/2']])
  expect(groups(one('a.b/1'), one('c.d/1', { expected: '400 BadRequest' }))).toHaveLength(2)
  expect(groups(one('a.b/1'), { ...one('c.d/1'), level: 'should' })).toHaveLength(2)
  const { exchange } = one('x.y/1').failures[0]!
  const other = {
    exchange: { ...exchange!, response: { status: 500, headers: {}, body: '{"tpe":"NotFound"}' } },
  }
  expect(groups(one('a.b/1'), one('c.d/1', other))).toHaveLength(2)
  const plain = (body: string) => ({
    actual: `200 ${body}`,
    toRefuse: true as const,
    exchange: { ...exchange!, response: { status: 200, headers: {}, body } },
  })
  const shape = (body: string) => {
    const { toRefuse: _, ...granted } = plain(body)
    return { ...granted, expected: 'a JSON body that fits', actual: `200, but ${body}` }
  }
  expect(
    groups(one('a.b/1', shape('x is missing')), one('c.d/1', shape('y is missing'))),
  ).toHaveLength(2)
  expect(groups(one('a.b/1', plain('{}')), one('c.d/2', plain('[]')))).toHaveLength(2)
  expect(
    groups(one('a.b/1', plain('{}')), one('c.d/1', plain('[]')), one('e.f/1', other)),
  ).toHaveLength(2)
  expect(
    groups(result('a.b/1', { outcome: 'failed' }), result('c.d/1', { outcome: 'failed' })),
  ).toHaveLength(2)
})

test('what should have been refused and was granted is one cause, whatever the answers say', () => {
  const { exchange } = one('x.y/1').failures[0]!
  const plain = (status: number, body: string) => ({
    actual: `${status} ${body}`,
    ...(status < 300 && { toRefuse: true as const }),
    exchange: { ...exchange!, response: { status, headers: {}, body } },
  })
  const granted = [
    one('a.b/400-nan', plain(200, '{"a":1}')),
    one('c.d/400-nan', plain(201, '{"c":2}')),
  ]
  expect(groups(...granted)).toEqual([['a.b/400-nan', 'c.d/400-nan']])
  expect(groups(...granted, one('e.f/400-other', plain(200, '{}')))).toHaveLength(2)
  const unknown = (id: string, path: string) =>
    one(id, { ...plain(404, `Cannot POST ${path}`), expected: 'a 2xx (§4.5)' })
  expect(
    groups(unknown('a.b/2xx-accepted', '/v1/a'), unknown('c.d/2xx-accepted', '/v1/c')),
  ).toHaveLength(1)
})

test('all that is wrong on reused connections only is one cause, also within one operation', () => {
  const reused = (id: string, text: string) =>
    one(id, { connection: 'reused', actual: `wrong only on a reused connection: ${text}` })
  expect(
    groups(
      reused('a.b/1', '501'),
      one('a.b/3'),
      reused('a.b/2', '400 x'),
      reused('c.d/1', '501 y'),
    ),
  ).toEqual([['a.b/1', 'a.b/2', 'c.d/1'], ['a.b/3']])
})

const ids = Array.from({ length: 14 }, (_, at) => `area-${at}.run/401-missing-credentials`)
const whole = report([...ids.map((id) => one(id)), one('z.z/1', { expected: 'another thing' })])

test('the terminal shows one block with the list of ids', () => {
  const text = inTerminal(whole)
  expect(text.match(/^✗ /gm)).toHaveLength(2)
  for (const id of ids) expect(text).toContain(id)
  expect(
    text
      .split('\n')
      .filter((line) => line.includes('area-'))
      .every((line) => line.length < 130),
  ).toBe(true)
  expect(text).toContain(`\n    same for  13 more:\n              ${ids[1]}\n`)
})

test('Markdown and HTML show one row; every id keeps its own entry in the files', async () => {
  const markdown = renderMarkdown(whole)
  expect(markdown.match(/^<details( open)?>/gm)).toHaveLength(2)
  expect(markdown).toContain('and 13 more</summary>')
  for (const id of ids) expect(markdown).toContain(`\`${id}\``)
  const html = await inHtml(whole)
  const from = html.indexOf('<ol class="failures">')
  const list = html.slice(from, html.indexOf('</ol>', from))
  expect(list.match(/<li>/g)).toHaveLength(2)
  for (const id of ids) {
    expect(list).toContain(`>${id}</a>`)
    expect(html).toContain(`<details class="r f" id="${id}"`)
  }
  expect(list).not.toContain('<details')
  const many = report(Array.from({ length: 22 }, (_, at) => one(`area-${at}.run/401-expired-key`)))
  expect(await inHtml(many)).toMatch(
    /<details class="fold"><summary>Same for 21 more<\/summary><p><a class="mono" href="#area-1.run/,
  )
  expect(renderJunit(whole).match(/<failure /g)).toHaveLength(15)
  expect(renderCtrf(whole).match(/"status": "failed"/g)).toHaveLength(15)
})
