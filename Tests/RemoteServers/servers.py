"""Servers of others for tests: a WebDAV server (wsgidav) or an S3 service (moto), on a port of this machine.

    servers.py webdav FOLDER [CERTIFICATE KEY]
    servers.py s3 BUCKET

Prints its port when it answers. Reads lines from standard input: `stop` closes the port, `start` opens it again, with the same
contents. Ends when its input does, however the program ends that started it, and deletes the folder.
"""
import logging
import os
import shutil
import socket
import sys
import threading
import time


class WebDAV:
    def __init__(self, folder, certificate=None, key=None):
        from wsgidav.wsgidav_app import WsgiDAVApp

        self.files = (certificate, key) if certificate else None
        self.app = WsgiDAVApp({
            "provider_mapping": {"/dav": folder},
            "simple_dc": {"user_mapping": {"*": {"ann": {"password": "pass:word"}}}},
            "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
            "logging": {"enable": False},
            "verbose": 0,
        })

    def start(self, port):
        from cheroot import wsgi
        from cheroot.ssl.builtin import BuiltinSSLAdapter

        self.server = wsgi.Server(("127.0.0.1", port), self.app, numthreads=8, timeout=2, shutdown_timeout=0.2)
        if self.files:
            self.server.ssl_adapter = BuiltinSSLAdapter(*self.files)
        self.server.error_log = lambda *arguments, **names: None
        self.server.prepare()
        threading.Thread(target=self.server.serve, daemon=True).start()
        return self.server.bind_addr[1]

    def stop(self):
        self.server.stop()


class S3:
    def __init__(self, bucket):
        logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
        # So that listings of a hundred objects have several pages.
        os.environ["MOTO_S3_DEFAULT_MAX_KEYS"] = "20"
        from moto.s3.models import s3_backends
        from moto.server import DomainDispatcherApplication, create_backend_app

        self.app = DomainDispatcherApplication(create_backend_app)
        s3_backends["123456789012"]["aws"].create_bucket(bucket, "us-east-1")

    def start(self, port):
        from werkzeug.serving import make_server

        self.server = make_server("127.0.0.1", port, self.app, threaded=True)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self.server.server_port

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def free_port():
    """Sockets of a port that the system chooses at once cannot be opened again while old connections end."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start(port):
    """Connections that end slowly may keep the port for a moment."""
    for attempt in range(200):
        try:
            return server.start(port)
        except OSError:
            if attempt == 199:
                raise
            time.sleep(0.05)


server = {"webdav": WebDAV, "s3": S3}[sys.argv[1]](*sys.argv[2:])
port = start(free_port())
print(port, flush=True)
for line in sys.stdin:
    if line.strip() == "stop":
        server.stop()
    elif line.strip() == "start":
        start(port)
    print(line.strip(), flush=True)
if sys.argv[1] == "webdav":
    shutil.rmtree(sys.argv[2], ignore_errors=True)
os._exit(0)
