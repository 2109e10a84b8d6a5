import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Parts of the package that stand in it when it is installed. */
const shipped = [
  'package.json',
  'cli/bin',
  'dist',
  'fixtures',
  'schemas',
  'reporters/html',
  'catalogue/readings.md',
]

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Somebody's project: a folder with the compiled package in its node_modules, and the other packages of this repository. */
export interface Project {
  readonly dir: string
  write(files: Readonly<Record<string, string>>): void
  /** Gives the project as seen from a folder of it, with the same packages. */
  at(folder: string): Project
  /** Runs a program of node_modules/.bin, or node itself, to its end. */
  run(
    program: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<Said>
  /** Starts a program of node_modules/.bin that goes on; it is ended with its children by `kill`. */
  start(program: string, args: readonly string[]): ChildProcessByStdio<null, Readable, Readable>
  remove(): void
}

export function makeProject(files: Readonly<Record<string, string>> = {}): Project {
  const dir = mkdtempSync(join(tmpdir(), 'conform-project-'))
  const modules = join(dir, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.vite' && name !== '.cache')
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  const installed = join(modules, 'ai-content-conformance')
  for (const path of shipped) cpSync(join(root, path), join(installed, path), { recursive: true })
  const project = projectIn(dir, modules)
  project.write({ 'package.json': '{"private": true, "type": "module"}', ...files })
  return project
}

function projectIn(dir: string, modules: string): Project {
  return {
    dir,
    at: (folder) => projectIn(join(dir, folder), modules),
    write(more) {
      for (const [path, text] of Object.entries(more)) {
        mkdirSync(dirname(join(dir, path)), { recursive: true })
        writeFileSync(join(dir, path), text)
      }
    },
    start(program, args) {
      const { PATH = '', HOME = '' } = process.env
      const env = { PATH, HOME, NO_COLOR: '1' }
      return spawn(join(modules, '.bin', program), args, {
        cwd: dir,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    },
    async run(program, args, env = {}) {
      const { PATH = '', HOME = '' } = process.env
      const file = program === 'node' ? process.execPath : join(modules, '.bin', program)
      const settings = {
        cwd: dir,
        env: { PATH, HOME, NO_COLOR: '1', CI: '1', ...env },
        maxBuffer: 1e8,
      }
      try {
        return { code: 0, ...(await promisify(execFile)(file, [...args], settings)) }
      } catch (error) {
        return error as Said
      }
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
