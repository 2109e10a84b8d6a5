import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { folder, referenceKey, targetFile } from '../cli/conform.ts'
import { type Block, commandsOf, root } from './blocks.ts'

interface Ended {
  readonly code: number | null
  /** stdout and stderr, the server's address as the pages write it. */
  readonly printed: string
}

/** The addresses that the pages write for somebody's server. */
const shownUrl = /http:\/\/(localhost|127\.0\.0\.1):8080/g

/**
 * A folder as a reader has it, in which the blocks of a page run one after the other: the package is installed from this
 * checkout, a server runs, `staging.json` declares all of it, and the key is in the environment.
 */
export async function workplace(): Promise<(block: Block) => Promise<Ended>> {
  const dir = folder()
  const bin = join(dir, 'node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(root, join(dir, 'node_modules/ai-content-conformance'))
  writeFileSync(
    join(bin, 'conform'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'cli/bin/conform.js')}' "$@"\n`,
  )
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n')
  for (const name of ['conform', 'npx']) chmodSync(join(bin, name), 0o755)
  const server = await startReference()
  onTestFinished(() => server.close())
  renameSync(targetFile(dir, server.url), join(dir, 'staging.json'))
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: dir,
    NO_COLOR: '1',
    CONFORM_API_KEY: referenceKey,
  }

  return async (block) => {
    const wrong =
      block.defects.length > 0 ? await startReference({ defects: [...block.defects] }) : undefined
    const { url } = wrong ?? server
    const code = block.text.replaceAll(shownUrl, url)
    const name = block.as ?? 'example.mjs'
    if (block.language === 'ts') writeFileSync(join(dir, name), code)
    const started =
      block.as === undefined ? `node ${name}` : `conform ${url} --target ${name} --dry-run`
    const commands = commandsOf({ ...block, text: code }).join('\n')
    // Not at once: the server answers in this process.
    const child = spawn(
      'bash',
      ['-c', `set -e\n${block.after}\n${block.language === 'ts' ? started : commands}`],
      {
        cwd: dir,
        env,
      },
    )
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (printed += piece))
    const ended = await new Promise<number | null>((resolve) => child.on('close', resolve))
    await wrong?.close()
    return { code: ended, printed: printed.replaceAll(url, 'http://localhost:8080') }
  }
}
