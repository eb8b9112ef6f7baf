// The extension starts `wherefore lsp` and shows failing runs; all else is the server's.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

const SHOW_RUN = 'wherefore.showRun';
const KEYS = ['timeout', 'checks', 'options', 'pause', 'showUnknown'];

let client;

function settings() {
  const given = vscode.workspace.getConfiguration('wherefore');
  return Object.fromEntries(KEYS.map((key) => [key, given.get(key)]));
}

// A failing run as a list of places to step through, beside the code.
async function showRun(run) {
  if (!run || run.steps.length === 0) {
    vscode.window.showInformationMessage('This run is no longer known: the text has changed since.');
    return;
  }
  const places = run.steps.map(({ location }) => client.protocol2CodeConverter.asLocation(location));
  const last = places[places.length - 1];
  await vscode.commands.executeCommand(
    'editor.action.peekLocations', last.uri, last.range.start, places, 'peek');
}

function start() {
  const command = vscode.workspace.getConfiguration('wherefore').get('path');
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = { command, args: ['lsp'], options: { cwd: folder } };
  client = new LanguageClient('wherefore', 'wherefore', server, {
    documentSelector: [{ scheme: 'file', language: 'c' }],
    initializationOptions: settings(),
    middleware: {
      // The server answers this command of a lens with the run.
      executeCommand: async (name, args, next) => {
        const result = await next(name, args);
        if (name === SHOW_RUN) {
          await showRun(result);
        }
        return result;
      },
    },
  });
  return client.start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('wherefore.path')) {
        await client.dispose();
        await start();
      } else if (event.affectsConfiguration('wherefore')) {
        await client.sendNotification('workspace/didChangeConfiguration', { settings: { wherefore: settings() } });
      }
    }),
    vscode.commands.registerCommand('wherefore.restart', () => client.restart()),
  );
  await start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
