extension RealServer {
    /// The fields of the form.
    var fields: [String: String] {
        let address = "http://127.0.0.1:\(port)"
        switch kind {
        case .webDAV:
            return [
                "kind": "webdav", "address": "\(address)/dav/Groceries", "user": Self.user, "password": Self.password,
            ]
        case .s3:
            return [
                "kind": "s3", "endpoint": address, "region": "us-east-1", "bucket": Self.bucket,
                "prefix": "groceries/", "access-key": "AKTEST", "secret-key": "secret",
            ]
        }
    }
}
