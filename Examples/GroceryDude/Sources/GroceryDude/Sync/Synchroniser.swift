import CoreData
import CoreDataSync
import Foundation
import LivePages

/// Keeps the list equal on several devices, and knows how it goes.
///
/// ```
/// off ──join──▶ on ──leave──▶ off
///                │ ▲
/// wrong or no    ▼ │ unlock
/// secret       locked
/// ```
@MainActor final class Synchroniser {
    enum Phase: Equatable {
        case off
        /// Exchanges, or tries to.
        case on
        /// The passphrase, password or keys are not known, or are not those of the place; the message of the last attempt.
        case locked(String?)
    }

    /// A first exchange that failed, and when it is tried again.
    struct Failure {
        let message: String
        let retry: Date
    }

    private(set) var phase = Phase.off
    private(set) var settings: SyncSettings?
    private(set) var state = SyncState()
    /// The first exchange since the app began has failed; `nil` once one has succeeded.
    private(set) var failure: Failure?
    /// Why the settings or the file beside the store cannot be used.
    private(set) var trouble: String?
    private(set) var devices: [SyncDevice] = []
    private(set) var waiting: [SyncWaiting] = []
    private(set) var conflicts: [SyncConflict] = []
    /// Called when something of this has changed; whether pages have another form then.
    var onChange: (@MainActor (_ isOtherPhase: Bool) -> Void)?

    let groceries: Groceries
    private let files: SyncFiles
    private var secrets = SyncSecrets()
    /// The place, if a passphrase seals it.
    private var sealed: SealedPlace?
    private var sync: Sync?
    private var hasStarted = false
    /// Whether the first exchange runs, and not the pause between two attempts.
    private var isTrying = false
    private var starting: Task<Void, Never>?
    private var following: Task<Void, Never>?

    init(_ groceries: Groceries) {
        self.groceries = groceries
        files = SyncFiles(beside: groceries.url)
    }

    /// Whether this list can synchronise: several apps on one server's list need not.
    var isPossible: Bool { groceries.url.isFileURL }

    // MARK: Beginning

    /// Goes on as the settings beside the store say.
    func resume() {
        guard isPossible, phase == .off else { return }
        do { settings = try files.load() } catch {
            let name = files.settings.lastPathComponent
            trouble =
                "The file \(name) beside the store cannot be read. Move it away, start the app again, and join again."
            return
        }
        guard let settings else { return }
        secrets = files.kept
        if settings.lacks(secrets) { phase = .locked(nil) } else { begin(settings) }
    }

    /// Joins a place that was checked.
    func join(_ candidate: SyncCandidate) throws {
        guard isPossible, phase == .off else { return }
        if candidate.keepsSecrets { try files.keep(candidate.secrets) }
        try files.save(candidate.settings)
        (settings, secrets) = (candidate.settings, candidate.secrets)
        begin(candidate.settings)
        onChange?(true)
    }

    /// Goes on with the secrets that were typed; what was not typed stays as it is.
    ///
    /// - Returns: what is wrong with them; `nil` if they are right.
    func unlock(_ typed: SyncSecrets, keeps: Bool) async throws -> String? {
        guard var settings, phase != .off, phase != .on || settings.needsCredentials else { return nil }
        var new = typed
        if new.passphrase.isEmpty { new.passphrase = secrets.passphrase }
        if new.credentials == nil { new.credentials = secrets.credentials }
        if settings.lacks(new) { return nil }
        let former = settings.place
        do {
            (settings.place, new.credentials) = try await settings.place.signingIn(
                new.credentials, device: settings.device)
            let place = try settings.place.place(
                new.credentials, hasFiles: settings.hasExchanged, isAwaited: true)
            if settings.needsCredentials { _ = try await place.list(nil) }
            if settings.isSealed { try await SealedPlace(place, passphrase: new.passphrase).unlock() }
        } catch let problem as SyncCandidate.Problem {
            if case .locked = phase { phase = .locked(problem.description) }
            return problem.description
        } catch let error as SyncPlaceError {
            let text = error.reason == .wrongPassphrase ? wrongPassphrase : error.message
            if case .locked = phase { phase = .locked(text) }
            return text
        }
        // Another browser may have been faster.
        guard self.settings?.place == former, phase != .off else { return nil }
        if settings.place != former {
            try files.save(settings)
            self.settings = settings
        }
        if keeps { try files.keep(new) } else { try files.forget() }
        await use(new)
        return nil
    }

    /// Goes on with credentials that the app was started with.
    func use(_ credentials: PlaceCredentials) async {
        guard phase != .off, credentials != secrets.credentials else { return }
        if var settings, !settings.needsCredentials {
            settings.needsCredentials = true
            try? files.save(settings)
            self.settings = settings
        }
        await use(SyncSecrets(passphrase: secrets.passphrase, credentials: credentials))
    }

    private func use(_ new: SyncSecrets) async {
        secrets = new
        if phase == .on { await endOrderly() }
        // Meanwhile another browser may have left, or begun again.
        guard let settings, phase != .off, sync == nil else { return }
        if settings.lacks(secrets) { phase = .locked(nil) } else { begin(settings) }
        onChange?(true)
    }

    private func begin(_ settings: SyncSettings) {
        (phase, trouble) = (.on, nil)
        do {
            let place = try settings.place.place(secrets.credentials, hasFiles: settings.hasExchanged) {
                [weak self] renewed in Task { @MainActor in self?.keep(renewed) }
            }
            sealed = settings.isSealed ? SealedPlace(place, passphrase: secrets.passphrase) : nil
            try open(sealed ?? place, settings)
        } catch {
            trouble = message(error)
            return
        }
        follow()
        start()
    }

    /// Keeps the token that a service has given in the place of the present one.
    private func keep(_ renewed: PlaceCredentials) {
        guard phase != .off, secrets.credentials != nil else { return }
        let isKept = files.kept.credentials != nil
        secrets.credentials = renewed
        if isKept { try? files.keep(secrets) }
    }

    private func open(_ place: any SyncPlace, _ settings: SyncSettings) throws {
        var options = SyncOptions()
        options.interval = settings.place.interval
        sync = try Sync(
            groceries.stack.coordinator, store: groceries.store, to: place, device: settings.device, options: options)
    }

    /// Tries the first exchange until it succeeds; from then on `Sync` repeats what fails.
    private func start() {
        guard let sync, let seeding = settings?.seeding else { return }
        starting?.cancel()
        starting = Task { [weak self, sealed] in
            var failures = 0.0
            while !Task.isCancelled {
                self?.isTrying = true
                let result: Result<Void, any Error>
                do {
                    try await sealed?.unlock()
                    result = .success(try await sync.start(seeding: seeding))
                } catch { result = .failure(error) }
                guard !Task.isCancelled else { return }
                self?.isTrying = false
                switch result {
                case .success:
                    self?.hasStarted = true
                    self?.failure = nil
                    return
                case .failure(let error):
                    failures += 1
                    let pause = min(300, pow(2, failures))
                    self?.note(error, retry: Date(timeIntervalSinceNow: pause))
                    try? await Task.sleep(for: .seconds(pause))
                }
            }
        }
    }

    private func note(_ error: any Error, retry: Date) {
        if let error = error as? SyncPlaceError, error.reason == .wrongPassphrase {
            endExchanging()
            phase = .locked(wrongPassphrase)
            onChange?(true)
            return
        }
        failure = Failure(message: message(error), retry: retry)
        onChange?(false)
    }

    // MARK: Following

    private func follow() {
        guard let states = sync?.states else { return }
        following = Task { [weak self] in
            for await state in states {
                // Most exchanges are over before one could read what they do: then pages show their end.
                if state.isBusy, state.lastExchange != nil { try? await Task.sleep(for: .milliseconds(300)) }
                guard !Task.isCancelled else { return }
                await self?.follow(state)
            }
        }
    }

    private func follow(_ seen: SyncState) async {
        let present = sync?.state ?? seen
        await note(seen.isBusy ? present : seen)
    }

    private func note(_ new: SyncState) async {
        state = new
        switch new.activity {
        case .idle, .failed: await readLists()
        default: break
        }
        if new.lastExchange != nil, var settings, !settings.hasExchanged {
            settings.hasExchanged = true
            try? files.save(settings)
            self.settings = settings
        }
        onChange?(false)
    }

    /// Reads what the sidecar has of devices, conflicts and what waits.
    private func readLists() async {
        guard let sync else { return }
        devices = (try? await sync.devices()) ?? devices
        waiting = (try? await sync.waiting()) ?? waiting
        if let all = try? await sync.conflicts() { conflicts = await withoutThumbnails(all, sync) }
    }

    /// Small pictures are made of large ones: where two devices made one of the same picture, there is nothing to decide. One that
    /// belongs to a picture that lost is brought back with it.
    private func withoutThumbnails(_ all: [SyncConflict], _ sync: Sync) async -> [SyncConflict] {
        let shown = all.filter { $0.property != ConflictPictures.thumbnail }
        let hidden = all.filter { $0.property == ConflictPictures.thumbnail }
        let pictures = ConflictPictures(all, in: groceries)
        let needless = hidden.filter { conflict in
            conflict.reason == .edited && !shown.contains { pictures.belong($0, conflict) }
        }
        if !needless.isEmpty { try? await sync.dismiss(needless) }
        return shown
    }

    // MARK: Acting

    /// Exchanges now; returns when that is done, or after three seconds.
    ///
    /// - Returns: whether it succeeded; `nil` if it goes on.
    @discardableResult
    func exchangeNow() async -> Bool? {
        guard phase == .on, let settings else { return false }
        // The file beside the store could not be used before.
        if sync == nil { begin(settings) }
        guard let sync else { return false }
        var result: Bool?
        if hasStarted {
            Task {
                do {
                    _ = try await sync.syncNow()
                    result = true
                } catch { result = false }
            }
            await wait { result != nil }
        } else {
            if !isTrying {
                failure = nil
                start()
            }
            await wait { self.hasStarted || self.failure != nil || self.phase != .on }
            result = hasStarted ? true : failure == nil && phase == .on ? nil : false
        }
        let present = sync.state
        if !present.isBusy { await note(present) }
        return result
    }

    private func wait(_ isDone: () -> Bool) async {
        let end = ContinuousClock.now + .seconds(3)
        while !isDone(), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// Writes a value again that lost, with the small picture that belongs to it.
    ///
    /// - Returns: false if the conflict is not in the journal any more.
    func bringBack(_ id: UUID) async throws -> Bool {
        guard let sync else { return false }
        let all = try await sync.conflicts()
        guard let conflict = all.first(where: { $0.id == id }) else { return false }
        let pictures = ConflictPictures(all, in: groceries)
        let thumbnail = all.first { pictures.belong(conflict, $0) }
        try await sync.restore(conflict)
        if let thumbnail { try? await sync.restore(thumbnail) }
        await groceries.stack.mergeNow()
        await noteDecision()
        return true
    }

    /// Removes a conflict from the journal; of an object that was deleted all of its values.
    func dismiss(_ id: UUID) async throws {
        guard let sync else { return }
        let all = try await sync.conflicts()
        let pictures = ConflictPictures(all, in: groceries)
        let wanted = all.filter { $0.id == id }.flatMap { one in
            all.filter { other in
                one.id == other.id || one.reason == .deleted && one.identity == other.identity
                    || pictures.belong(one, other)
            }
        }
        try await sync.dismiss(wanted)
        await noteDecision()
    }

    private func noteDecision() async {
        await readLists()
        onChange?(false)
    }

    /// Ends this device's part.
    ///
    /// - Parameter isForced: whether to leave although the place cannot be told: then the others keep files for this device until its
    ///   lease ends.
    /// - Throws: the place's error where it cannot be told; then synchronisation goes on.
    func leave(isForced: Bool) async throws {
        starting?.cancel()
        await starting?.value
        if sync == nil, let settings, let place = try? settings.place.place(secrets.credentials, hasFiles: false) {
            // A place whose secrets are not known is not told. A file beside the store that cannot be used is left alone.
            try? open(place, settings)
        }
        let isLocked = phase != .on
        do { try await sync?.leave(tellingOthers: !isLocked) } catch let error as SyncPlaceError {
            guard isForced else {
                hasStarted = false
                start()
                throw error
            }
            try await sync?.leave(tellingOthers: false)
        }
        endExchanging()
        await settings?.place.signOut(secrets.credentials)
        try files.remove()
        (phase, settings, secrets, trouble) = (.off, nil, SyncSecrets(), nil)
        onChange?(true)
    }

    // MARK: Ending

    /// Ends when the exchange that runs has ended: then the store may be replaced.
    func stop() async {
        await endOrderly()
        phase = .off
    }

    private func endOrderly() async {
        starting?.cancel()
        await starting?.value
        await sync?.stop()
        endExchanging()
    }

    /// Ends at once; the next start goes on.
    func end() {
        onChange = nil
        endExchanging()
    }

    private func endExchanging() {
        starting?.cancel()
        following?.cancel()
        (starting, following, sync, hasStarted, isTrying, failure) = (nil, nil, nil, false, false, nil)
        (state, devices, waiting, conflicts) = (SyncState(), [], [], [])
    }
}
