import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { folder, targetFile } from './conform.ts'
import { reference } from './in-process.ts'
import { hasTerminals, onTerminal, slowTarget } from './processes.ts'

const only = ['--only', 'files.retrieve/404-unknown-file', '--runs', '1']
const keys = 'q quit'

describe.skipIf(!hasTerminals)('on a terminal', () => {
  test('watch runs again by keys, when the target file changes, and when the target comes back', async () => {
    const cwd = folder()
    const broken = await startReference({ defects: ['files.retrieve/404-unknown-file'] })
    const port = Number(new URL(broken.url).port)
    const file = targetFile(cwd, broken.url)
    const watch = onTerminal(['watch', '-t', file, ...only, '--report', 'json'], cwd)
    await watch.shows('exit 1: 1 required check failed')
    await watch.shows('f run the 1 failed')
    await watch.shows(keys)

    watch.types('f')
    await watch.shows('failed: asked for')
    await watch.shows('Still failing: 1')
    await watch.shows(keys)

    await broken.close()
    await watch.shows('The target does not answer.')
    await watch.shows(keys)
    await reference({ port })
    await watch.shows('failed: the target answers again')
    await watch.shows('files.retrieve  1: 404-unknown-file')
    await watch.shows(keys)

    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('Embedded reference server', 'Another name'),
    )
    await watch.shows('target.json changed')
    await watch.shows('Another name')
    await watch.shows('Since the previous run: nothing changed')
    await watch.shows(keys)

    writeFileSync(file, '{"baseUrl": 5, "name": 5}')
    await watch.shows('\n  /')
    await watch.shows(keys)

    watch.types('q')
    const { code, shown } = await watch.ended
    expect(code).toBe(0)
    expect(shown).toContain('Run only what failed')
    // The terminal is as it was: the first and the last line are what stty said.
    const lines = shown.trim().split(/\r?\n/)
    expect(lines.at(-1)!.replace(/.*\x1b\[\?25h/, '')).toBe(lines[0])
    // Nothing failed any more, so everything was run: that writes the reports, a part does not.
    const report = JSON.parse(readFileSync(`${cwd}/conform-report.json`, 'utf8')) as {
      target: { name: string }
    }
    expect(report.target.name).toBe('Another name')
  })

  test('Ctrl-C ends the run of watch, then conform', async () => {
    const { url } = await reference()
    const slow = await slowTarget(url, (line) => line === 'POST /v1/completion')
    const cwd = folder()
    const watch = onTerminal(
      ['watch', '-t', targetFile(cwd, slow.url), '--only', 'completion.*', '--runs', '1'],
      cwd,
    )
    await slow.held(1)
    watch.types('\x03')
    await watch.shows('Press Ctrl-C again to quit')
    await watch.shows('exit 3: the run was interrupted')
    await watch.shows(keys)
    watch.types('\x03')
    expect(await watch.ended).toMatchObject({ code: 0 })
  })

  test('a target file that is wrong from the beginning ends watch', async () => {
    const cwd = folder()
    const watch = onTerminal(['watch', '-t', 'missing.json'], cwd)
    const { code, shown } = await watch.ended
    expect(code).toBe(2)
    expect(shown).toContain('conform: missing.json: does not exist')
  })

  test('watch shows its keys once for a dead server, and none for what failed', async () => {
    const watch = onTerminal(['watch', 'http://127.0.0.1:1', '-k', 'a-key-of-nobody'], folder())
    await watch.shows('The target does not answer.')
    await watch.shows('q quit')
    watch.types('q')
    const { shown } = await watch.ended
    expect(shown.match(/a run all/g)).toHaveLength(1)
    expect(shown).not.toMatch(/f run/)
  })

  test('watch waits for no handler, which is in its own process', async () => {
    const cwd = folder()
    const source =
      "export default { keys: { full: 'a-key' }, fetch() { throw new Error('a slip') } }"
    writeFileSync(join(cwd, 'target.mjs'), source)
    const watch = onTerminal(['watch', '-t', 'target.mjs'], cwd)
    await watch.shows('a slip')
    await watch.shows(keys)
    watch.types('a')
    await watch.shows('all: asked for')
    await watch.shows(keys)
    watch.types('q')
    expect((await watch.ended).shown).not.toMatch(/does not answer|Start the server/)
  })
})
