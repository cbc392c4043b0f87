import CoreData
import Foundation
import HTTPTypes
import Hummingbird

/// Answers requests for large values: a part of one, too, and a piece at a time.
struct ValueRoutes: Sendable {
    let objects: ObjectRoutes

    private var store: ServedStore { objects.store }
    private static let pieceSize = 64 * 1024

    private func attribute(_ name: String, of entity: ServedEntity) throws(Problem) -> ServedAttribute {
        // The entity of the object may be below; its properties are asked for by its own address.
        guard let attribute = entity[property: name]?.attribute else {
            throw Problem(
                404, "not-found", "There is no such property", "\(entity.name) has no property of that name.",
                entity: entity.name)
        }
        switch attribute.form {
        case .largeBytes, .bytes: return attribute
        default:
            throw Problem(
                404, "not-found", "The property has no address",
                "\(entity.name).\(attribute.name) is a part of the object.",
                entity: entity.name, property: attribute.name)
        }
    }

    func read(
        _ entity: ServedEntity, _ id: UUID, _ name: String, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        let attribute = try attribute(name, of: entity)
        let condition = try ObjectRoutes.tags(request, .ifNoneMatch)
        let range = request.headers[.range]
        let rangeTag = request.headers[.ifRange]
        let tags = store.tags
        // The value stays in memory until its last piece is sent: the number of such answers is bounded.
        let (data, tag): (Data?, String) = try await store.holdingValue {
            try await store.reading(caller) { context in
                let found = try await store.fetch(ObjectRoutes.fetch(entity, id), in: context)
                return try await context.result {
                    guard let object = found.value.first else { throw Problem.missing(entity.name) }
                    // A fault until here: the tag needs the row.
                    let data = object.value(forKey: attribute.name) as? Data
                    let tag = tags.tag(of: object) ?? ""
                    return (condition?.contains(tag) ?? false ? Data() : data, tag)
                }
            }
        }
        guard let data else {
            throw Problem(
                404, "no-value", "The property has no value", "\(entity.name).\(attribute.name) is null.",
                entity: entity.name, property: attribute.name)
        }
        var headers: HTTPFields = [
            .eTag: "\"\(tag)\"", .cacheControl: "private, no-cache", .vary: "Authorization",
            .acceptRanges: "bytes", .contentType: attribute.mediaType, .contentDisposition: "attachment",
        ]
        if condition?.contains(tag) ?? false {
            headers[.contentType] = nil
            return Response(status: .notModified, headers: headers)
        }
        guard let range, rangeTag == nil || rangeTag == "\"\(tag)\"" else {
            return Response(status: .ok, headers: headers, body: Self.body(data, 0..<data.count))
        }
        switch ByteRange(range, of: data.count) {
        case .whole: return Response(status: .ok, headers: headers, body: Self.body(data, 0..<data.count))
        case .part(let part):
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(data.count)"
            return Response(status: .partialContent, headers: headers, body: Self.body(data, part))
        case .outside:
            throw Problem(
                416, "range", "There are no such bytes", "The value has \(data.count) bytes.",
                headers: ["Content-Range": "bytes */\(data.count)"])
        }
    }

    private static func body(_ data: Data, _ range: Range<Int>) -> ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            var start = range.lowerBound
            while start < range.upperBound {
                let end = min(start + pieceSize, range.upperBound)
                try await writer.write(
                    ByteBuffer(bytes: data[data.startIndex + start..<data.startIndex + end]))
                start = end
            }
            try await writer.finish(nil)
        }
    }

    func write(
        _ entity: ServedEntity, _ id: UUID, _ name: String, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        let attribute = try attribute(name, of: entity)
        let condition = try ObjectRoutes.tags(request, .ifMatch)
        let exclusion = try ObjectRoutes.tags(request, .ifNoneMatch)
        let (store, objects) = (store, objects)
        if attribute.isDerived {
            throw Problem.invalid([.init(entity: entity.name, property: name, detail: "the store computes it")])
        }
        return try await store.holdingValue {
            let bytes = try await BodyCollector.collect(
                request, limit: store.limits.valueSize, within: store.limits.bodyTime, what: "A value")
            let key = try objects.key(request, caller, bytes)
            let change = Change(
                kind: .bytes(property: attribute.name, Data(bytes)), entity: entity, id: id, condition: condition,
                exclusion: exclusion)
            return try await Self.answer(
                try await store.change([change], caller: caller, key: key, wantsObjects: false))
        }
    }

    func delete(
        _ entity: ServedEntity, _ id: UUID, _ name: String, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        let attribute = try attribute(name, of: entity)
        let key = try objects.key(request, caller, [])
        let change = Change(
            kind: .bytes(property: attribute.name, nil), entity: entity, id: id,
            condition: try ObjectRoutes.tags(request, .ifMatch),
            exclusion: try ObjectRoutes.tags(request, .ifNoneMatch))
        return try await Self.answer(store.change([change], caller: caller, key: key, wantsObjects: false))
    }

    private static func answer(_ outcome: (results: [ChangeResult], isReplayed: Bool)) async throws -> Response {
        var headers = ObjectRoutes.headers(outcome.isReplayed)
        if let tag = outcome.results.first?.tag { headers[.eTag] = "\"\(tag)\"" }
        return Response(status: .noContent, headers: headers)
    }
}

/// A `Range` header; several ranges are answered by the whole value, as RFC 9110 allows.
package enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case outside

    package init(_ header: String, of count: Int) {
        guard let match = header.wholeMatch(of: /bytes=(\d{0,18})-(\d{0,18})/), let first = Int("0" + match.output.1)
        else {
            self = .whole
            return
        }
        let last = Int(match.output.2)
        if match.output.1.isEmpty {
            guard let last else {
                self = .whole
                return
            }
            self = last == 0 || count == 0 ? .outside : .part(max(0, count - last)..<count)
            return
        }
        if let last, last < first {
            self = .whole
            return
        }
        guard first < count else {
            self = .outside
            return
        }
        self = .part(first..<min((last ?? count - 1) + 1, count))
    }
}
