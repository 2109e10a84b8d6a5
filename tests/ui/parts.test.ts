import { expect, test } from 'vitest'
import { createBoard } from '../../cli/ui/board.ts'
import { paragraphMarkup } from '../../cli/ui/parts.ts'
import { sampleReport } from '../reporters/sample-report.ts'

test('Markdown of a reading is markup, and nothing else of it is', () => {
  expect(paragraphMarkup('**Who** (`*/401-*`, `a`) may _say_ <b>&amp; [that](#there), 2 * 3 * 4 and `<i>`.')).toBe(
    '<p><b>Who</b> (<code>*/401-*</code>, <code>a</code>) may <em>say</em> &lt;b&gt;&amp;amp; that, 2 * 3 * 4 and <code>&lt;i&gt;</code>.</p>',
  )
})

test('a run of a part leaves the rest as it was, and the verdict is of all that is known', () => {
  const whole = sampleReport()
  const board = createBoard(whole)
  const [failing, other] = whole.requirements.filter(({ outcome, level }) => outcome === 'passed' && level === 'must')
  const part = whole.requirements.map((result) =>
    result.id === failing!.id
      ? { ...result, outcome: 'failed' as const }
      : { ...result, outcome: 'not-exercised' as const, reason: 'left out: --only' },
  )
  const before = board.version
  board.ended({ ...whole, requirements: part }, true)
  expect(board.rows.get(other!.id)!.result.outcome).toBe('passed')
  expect([...board.rows.values()].filter(({ version }) => version > before).map(({ result }) => result.id)).toEqual([
    failing!.id,
  ])
  expect(board.report()).toMatchObject({ verdict: 'non-conformant', summary: { must: { failed: 1 } } })
})

test('what a run of a part could not judge any more stays as it was', () => {
  const whole = sampleReport()
  const board = createBoard(whole)
  const cutShort = whole.requirements.map((result) => ({
    ...result,
    outcome: 'not-exercised' as const,
    reason: 'left out: interrupted',
  }))
  board.ended({ ...whole, requirements: cutShort }, true)
  expect(board.report().requirements).toEqual(whole.requirements)
})
