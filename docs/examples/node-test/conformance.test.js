import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runConformance } from 'ai-content-conformance'
import { startReference } from 'ai-content-conformance/reference'

test('the server keeps the interface', async (t) => {
  // Your own server and its target file go here: runConformance('conform.target.json').
  const server = await startReference()
  t.after(() => server.close())

  const run = runConformance(server.target, { only: ['files.*', 'pdf.parse/*'], signal: t.signal })
  for await (const event of run) {
    if (event.kind !== 'judged') continue
    const { failures, id, outcome, reason, statement } = event.result
    if (reason?.startsWith('left out:')) continue
    await t.test(`${id} ${statement}`, (each) => {
      if (outcome === 'failed')
        assert.fail(`expected ${failures[0]?.expected}, received ${failures[0]?.actual}`)
      if (outcome !== 'passed') each.skip(reason)
    })
  }
  assert.notEqual((await run.report).verdict, 'not-judged')
})

test('a client copes with a server that answers a missing file by 500', async (t) => {
  const server = await startReference({ defects: ['files.retrieve/404-unknown-file'] })
  t.after(() => server.close())
  const { full } = server.target.keys ?? {}
  const answer = await fetch(`${server.url}/v1/files/00000000-0000-4000-8000-000000000000`, {
    headers: { authorization: `Bearer ${full}` },
  })
  assert.notEqual(answer.status, 404)
})
