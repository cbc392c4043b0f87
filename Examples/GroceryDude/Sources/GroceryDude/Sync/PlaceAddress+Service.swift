import CoreDataRemoteSync
import CoreDataSync
import Foundation

// A household of a service as a place: the password is exchanged for the token of a session, and not kept.
extension PlaceAddress {
    /// Signs the device in to a service, and finds the household; other places, and sessions that exist, stay as they are.
    ///
    /// - Throws: a `SyncCandidate.Problem` with the field to change.
    func signingIn(
        _ credentials: PlaceCredentials?, device: String
    ) async throws -> (place: PlaceAddress, credentials: PlaceCredentials?) {
        guard case .service(var service) = self, case .password(let name, let password)? = credentials else {
            return (self, credentials)
        }
        var limits = RemoteLimits()
        limits.silence = 15
        do {
            let session = try await ServiceSession.signIn(
                to: service.address, name: name, password: password, device: device, limits: limits)
            do { try service.choose(from: try await session.person().memberships) } catch {
                try? await session.signOut()
                throw error
            }
            service.account = name
            return (.service(service), .session(token: session.token))
        } catch let error as ServiceError {
            let isAboutAccount = error.status == 401 || error.status == 429
            throw SyncCandidate.Problem(
                field: isAboutAccount ? .accountPassword : .service, description: error.message)
        }
    }

    /// Ends the session of a service, as far as it can be reached.
    func signOut(_ credentials: PlaceCredentials?) async {
        guard case .service(let service) = self, case .session? = credentials else { return }
        var limits = RemoteLimits()
        limits.silence = 5
        try? await service.session(credentials, limits).signOut()
    }
}

extension PlaceAddress.Service {
    func session(_ credentials: PlaceCredentials?, _ limits: RemoteLimits) throws -> ServiceSession {
        var token = ""
        if case .session(let text)? = credentials { token = text }
        do { return try ServiceSession(service: address, token: token, limits: limits) } catch let error as ServiceError
        {
            throw SyncPlaceError(.unavailable, error.message)
        }
    }

    /// Chooses the household with the name that was typed, or the only one.
    fileprivate mutating func choose(from memberships: [ServiceSession.Membership]) throws {
        if let group, let known = memberships.first(where: { $0.groupID == group }) {
            household = known.groupName
            return
        }
        func problem(_ text: String) -> SyncCandidate.Problem { .init(field: .household, description: text) }
        guard !memberships.isEmpty else {
            throw problem("“\(account)” is a member of no household. Make one in Grocery Cloud, or join one.")
        }
        let wanted = household.lowercased()
        let found = memberships.filter { wanted.isEmpty || $0.groupName.lowercased() == wanted }
        let names = memberships.map(\.groupName).sorted().joined(separator: ", ")
        guard let first = found.first else {
            throw problem("“\(account)” is a member of no household “\(household)”. Type one of: \(names).")
        }
        guard found.count == 1 else {
            throw problem(
                wanted.isEmpty
                    ? "“\(account)” is a member of several households. Type the name of one: \(names)."
                    : "Several households are called “\(household)”. Rename one of them in Grocery Cloud.")
        }
        (group, household) = (first.groupID, first.groupName)
    }
}
