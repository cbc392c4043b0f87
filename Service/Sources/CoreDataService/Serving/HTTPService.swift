import CoreData
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization

/// Serves a store on a port until it is asked to stop: then it takes no new connections, and ends what it has begun.
package struct HTTPService: Sendable {
    package let responder: ServiceResponder
    package let host: String
    package let port: Int
    package let logger: Logger

    static let headerSize = 64 * 1024
    static let headerListSize = 128 * 1024
    static let headerCount = 100

    package init(responder: ServiceResponder, host: String, port: Int, logger: Logger) {
        self.responder = responder
        self.host = host
        self.port = port
        self.logger = logger
    }

    /// Runs until a signal, or until the task is cancelled.
    package func run(
        stopsAtSignals: Bool, onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) async throws {
        let application = Application(
            responder: responder,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [EarlyRefusal()], idleTimeout: .seconds(60),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.headerSize, maxHeaderListSize: Self.headerListSize,
                        maxHeaderFieldCount: Self.headerCount))),
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) }, logger: logger)
        let housekeeping = Housekeeping(coordinator: responder.store.coordinator, logger: logger)
        var configuration = ServiceGroupConfiguration(
            services: [application, housekeeping], gracefulShutdownSignals: stopsAtSignals ? [.sigint, .sigterm] : [],
            logger: logger)
        // A client that has sent half a request by then does not send the rest.
        configuration.maximumGracefulShutdownDuration = responder.store.limits.stopping
        do { try await ServiceGroup(configuration: configuration).run() } catch {
            // Requests that are cut off at the end are no failure of the service.
            guard housekeeping.isStopping.withLock({ $0 }) else { throw error }
        }
    }
}

/// Deletes notes of requests that no client repeats any more.
private final class Housekeeping: Service {
    private let coordinator: NSPersistentStoreCoordinator
    private let logger: Logger
    /// Whether the service was asked to stop.
    let isStopping = Mutex(false)

    init(coordinator: NSPersistentStoreCoordinator, logger: Logger) {
        self.coordinator = coordinator
        self.logger = logger
    }

    func run() async throws {
        try? await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                let coordinator = coordinator
                let result = await Task.detached {
                    Result {
                        try coordinator.purgeTransactionNotes(before: Date(timeIntervalSinceNow: -RequestKey.lifetime))
                    }
                }.result.get()
                if case .failure(let error) = result { logger.warning("Notes were not deleted: \(error)") }
                try await Task.sleep(for: .seconds(3600))
            }
        }
        let isAsked = Task.isShuttingDownGracefully
        isStopping.withLock { $0 = isAsked }
    }
}
