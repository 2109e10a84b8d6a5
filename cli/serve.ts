import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { referenceTargetFile } from '../schemas/validate.ts'
import { UserError } from '../harness/user-error.ts'
import { whole } from './run/arguments.ts'
import { runBeside } from './run/process.ts'

export function command() {
  return new Command('serve')
    .description(
      'run the embedded reference server until interrupted; prints its URL and a target file that fits it',
    )
    .option('--port <n>', 'port on the loopback address; 0 means any free one', whole(0, 65_535), 0)
    .argument(
      '[command...]',
      'after --: a command to run when the server is ready, with CONFORM_URL, CONFORM_TARGET and CONFORM_API_KEY; the server ends with it',
    )
    .action(async (words, options) => {
      const { startReference } = await import('../reference/server.ts')
      const { url, close } = await startReference(options, true).catch((error: unknown) => {
        const { code, message } = error as NodeJS.ErrnoException
        throw new UserError(
          `--port ${options.port}: cannot be used (${code ?? message}); give another, or 0 for any`,
        )
      })
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
      const interrupted = Promise.race(signals.map((signal) => once(process, signal)))
      const dir = mkdtempSync(join(tmpdir(), 'conform-serve-'))
      try {
        const target = join(dir, 'target.json')
        const { $schema: _, ...file } = JSON.parse(readFileSync(referenceTargetFile, 'utf8')) as {
          $schema: string
          keys: { full: string }
        }
        writeFileSync(target, `${JSON.stringify({ ...file, baseUrl: url }, null, 2)}\n`)
        process.stdout.write(`${JSON.stringify({ url, target })}\n`)
        const code = await runBeside(words, interrupted, {
          CONFORM_URL: url,
          CONFORM_TARGET: target,
          CONFORM_API_KEY: file.keys.full,
        })
        if (code) process.exitCode = code
      } finally {
        rmSync(dir, { recursive: true, force: true })
        await close()
      }
    })
}
