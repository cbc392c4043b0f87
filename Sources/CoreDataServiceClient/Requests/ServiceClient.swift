import CoreDataJSON
import CoreDataRemote
import CoreDataRemoteSync
import Foundation

/// Sends the requests of the service's REST API for one session.
struct ServiceClient: Sendable {
    let session: ServiceSession

    typealias Parameters = [(name: String, value: String)]

    /// Reads JSON.
    func get(_ path: String, _ parameters: Parameters = []) async throws(ServiceFailure) -> JSONValue {
        try json(try await send("GET", path, parameters))
    }

    /// Sends a list of changes, which the service applies in one transaction.
    ///
    /// - Parameter key: the idempotency key: a repeated request changes nothing.
    func post(_ body: Data, key: UUID) async throws(ServiceFailure) -> JSONValue {
        let headers = [
            "Content-Type": "application/json", "Idempotency-Key": key.uuidString,
            "Prefer": "return=representation",
        ]
        return try json(try await send("POST", "/api", headers: headers, .data(body)))
    }

    /// Writes a large value, or removes it.
    ///
    /// - Returns: the version of the object afterwards.
    func put(_ bytes: Data?, at path: String, key: UUID) async throws(ServiceFailure) -> String? {
        var headers = ["Idempotency-Key": key.uuidString]
        if bytes != nil { headers["Content-Type"] = "application/octet-stream" }
        let answer = try await send(
            bytes == nil ? "DELETE" : "PUT", path, headers: headers, bytes.map { .data($0) } ?? .nothing)
        return answer.headers["etag"].map { $0.replacing("\"", with: "") }
    }

    /// Reads a large value: nil within the result if there is none; `nil` if there is no such object.
    func bytes(at path: String) async throws(ServiceFailure) -> Data?? {
        do { return .some(try await send("GET", path).body) } catch {
            guard error.status == 404 else { throw error }
            return error.type == "no-value" ? .some(nil) : nil
        }
    }

    private func json(_ answer: RemoteConnection.Answer) throws(ServiceFailure) -> JSONValue {
        var limits = JSONParser.Limits()
        limits.values = 2_000_000
        do { return try JSONParser.parse([UInt8](answer.body), limits: limits) } catch {
            throw .answer("it is not JSON: \(error)")
        }
    }

    /// Sends a request, up to four times if it fails for a reason that may pass. That is safe: a change has an
    /// idempotency key.
    private func send(
        _ method: String, _ path: String, _ parameters: Parameters = [], headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing
    ) async throws(ServiceFailure) -> RemoteConnection.Answer {
        let query = parameters.map { "\(RemoteAddress.encoded($0.name))=\(RemoteAddress.encoded($0.value))" }
            .joined(separator: "&")
        let answer: RemoteConnection.Answer
        do {
            answer = try await session.answer(
                to: method, query.isEmpty ? path : "\(path)?\(query)", headers: headers, content)
        } catch let failure as RemoteFailure { throw ServiceFailure(failure) } catch let failure as ServiceFailure {
            throw failure
        } catch is CancellationError {
            throw ServiceFailure(status: 0, type: "cancelled", message: "The request was cancelled.")
        } catch {
            throw ServiceFailure(status: 0, type: "address", message: "The request cannot be sent: \(error)")
        }
        guard answer.isSuccess else { throw ServiceFailure(answer, session.place) }
        return answer
    }
}

extension ServiceClient {
    /// The number of objects that are asked for by their IDs in one request.
    private static let portion = 100

    /// Reads objects by their IDs, with the objects of relationships in the place of IDs.
    func objects(
        _ ids: [UUID], of entity: String, _ model: ServiceModel, including includes: [String] = []
    ) async throws(ServiceFailure) -> [RemoteObject] {
        var found: [RemoteObject] = []
        let wanted = Set(ids)
        let ids = Array(wanted).sorted { $0.uuidString < $1.uuidString }
        for start in stride(from: 0, to: ids.count, by: Self.portion) {
            let some = Array(ids[start..<min(ids.count, start + Self.portion)])
            var parameters = WhereClause.ids(some).parameters
            parameters.append(("limit", String(some.count)))
            if !includes.isEmpty { parameters.append(("include", includes.joined(separator: ","))) }
            guard let items = try await get("/api/\(entity)", parameters)["items"]?.array else {
                throw .answer("a list has no items")
            }
            for item in items {
                let object = try RemoteObject(item, in: model)
                guard wanted.contains(object.id), model.isKind(object.entity, of: entity) else {
                    throw .answer("an object was not asked for")
                }
                found.append(object)
            }
        }
        return found
    }
}
