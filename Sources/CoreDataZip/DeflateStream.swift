import CZlib
import Foundation

/// Compresses bytes as they come: raw DEFLATE, without zlib's header, as zip archives and stores' cached models have it.
package final class DeflateStream {
    // On the heap, at one address: zlib's state refers back to it.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    package init() throws(ZipFailure) {
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw ZipFailure(.file, "zlib cannot compress (\(status))") }
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Calls `output` with what the bytes become, several times or not at all.
    ///
    /// - Parameter isLast: whether no others come.
    package func add(_ bytes: [UInt8], isLast: Bool, _ output: (ArraySlice<UInt8>) throws -> Void) throws {
        var input = bytes
        var start = 0
        while true {
            let (status, produced) = input.withUnsafeMutableBufferPointer { input -> (Int32, Int) in
                stream.pointee.next_in = input.baseAddress.map { $0 + start }
                stream.pointee.avail_in = UInt32(input.count - start)
                return buffer.withUnsafeMutableBufferPointer { buffer in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    let status = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    return (status, buffer.count - Int(stream.pointee.avail_out))
                }
            }
            start = input.count - Int(stream.pointee.avail_in)
            if produced > 0 { try output(buffer[..<produced]) }
            if status == Z_STREAM_END { return }
            guard status == Z_OK || status == Z_BUF_ERROR else {
                throw ZipFailure(.file, "zlib cannot compress (\(status))")
            }
            if !isLast, start == input.count, produced < buffer.count { return }
        }
    }
}

/// Takes raw DEFLATE apart as it comes.
package final class InflateStream {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// Whether the compressed bytes have ended.
    package private(set) var isAtEnd = false

    package init() throws(ZipFailure) {
        stream.initialize(to: z_stream())
        let status = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw ZipFailure(.file, "zlib cannot decompress (\(status))") }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Calls `output` with what the bytes hold, at most 64 KB at a time, so that it can stop what becomes too much.
    ///
    /// - Returns: how many of the bytes were behind the end.
    @discardableResult
    package func add(_ bytes: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void) throws -> Int {
        var input = bytes
        var start = 0
        while !isAtEnd {
            let (status, produced) = input.withUnsafeMutableBufferPointer { input -> (Int32, Int) in
                stream.pointee.next_in = input.baseAddress.map { $0 + start }
                stream.pointee.avail_in = UInt32(input.count - start)
                return buffer.withUnsafeMutableBufferPointer { buffer in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    let status = inflate(stream, Z_NO_FLUSH)
                    return (status, buffer.count - Int(stream.pointee.avail_out))
                }
            }
            start = input.count - Int(stream.pointee.avail_in)
            if produced > 0 { try output(buffer[..<produced]) }
            if status == Z_STREAM_END { isAtEnd = true }
            guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
                throw ZipFailure(.damaged, "the compressed bytes are damaged")
            }
            if produced < buffer.count { break }
        }
        return input.count - start
    }
}

/// A checksum as zip archives have it.
package struct CRC32: Sendable {
    package private(set) var value: UInt32 = 0

    package init() {}

    package mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer { bytes in
            value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), bytes.baseAddress, bytes.count))
        }
    }
}

/// Data as a whole.
package enum Deflate {
    package static func compress(_ data: Data) throws -> Data {
        var result = Data()
        try DeflateStream().add(Array(data), isLast: true) { result.append(contentsOf: $0) }
        return result
    }

    /// - Parameter limit: the number of bytes at which the content is taken for an attack.
    package static func decompress(_ data: Data, limit: Int) throws -> Data {
        var result = Data()
        let stream = try InflateStream()
        try stream.add(Array(data)) { bytes in
            guard result.count + bytes.count <= limit else {
                throw ZipFailure(.refused, "the compressed bytes hold more than \(limit) bytes")
            }
            result.append(contentsOf: bytes)
        }
        guard stream.isAtEnd else { throw ZipFailure(.damaged, "the compressed bytes have no end") }
        return result
    }
}
