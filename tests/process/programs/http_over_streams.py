"""Python's own HTTP server and client, unmodified, with examples/stream_bridge between them.

  http_over_streams.py <photonrun> <stream_bridge> [photonrun's options]
"""
import hashlib
import http.client
import http.server
import random
import socket
import subprocess
import sys
import threading

GETS, POSTS, RAW = 4, 3, 1


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'  # connections stay open for more requests

    def answer(self, body):
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(made(int(self.path[1:])))

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        self.answer(hashlib.sha256(body).hexdigest().encode())

    def log_message(self, *_):
        pass


def made(size):
    return random.Random(size).randbytes(size)


def check(what, is_right):
    if not is_right:
        raise SystemExit(f'wrong: {what}')


def gets(port, failures):
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=50)
    for size in (0, 1, 100, 16_376, 16_377, 3_000_001):
        client.request('GET', f'/{size}')
        if client.getresponse().read() != made(size):
            failures.append(f'GET of {size}')
    client.close()


def posts(port, failures):
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=50)
    for size in (5, 2_500_000, 70_000):
        client.request('POST', '/', body=made(size))
        if client.getresponse().read() != hashlib.sha256(made(size)).hexdigest().encode():
            failures.append(f'POST of {size}')
    client.close()


def raw(port):
    """A client of HTTP/1.0 that ends its own way first, and reads up to the server's end."""
    with socket.create_connection(('127.0.0.1', port), timeout=50) as one:
        one.sendall(b'GET /777 HTTP/1.0\r\n\r\n')
        one.shutdown(socket.SHUT_WR)
        answer = b''.join(iter(lambda: one.recv(65536), b''))
    check('the answer of HTTP/1.0', answer.endswith(made(777)))


def main():
    photonrun, bridge, *options = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    command = [photonrun, '-n', '2', *options, bridge, '--to', str(server.server_port),
               '--connections', str(GETS + POSTS + RAW)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        line = run.stdout.readline()
        check(f'the first line {line!r}', line.startswith('listening at '))
        port = int(line.split()[-1])
        failures = []
        clients = [threading.Thread(target=gets, args=(port, failures)) for _ in range(GETS)]
        clients += [threading.Thread(target=posts, args=(port, failures)) for _ in range(POSTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        raw(port)
        check(failures, not failures)
        check('the end of the bridge', run.wait(30) == 0)
    print('every byte is right')


main()
