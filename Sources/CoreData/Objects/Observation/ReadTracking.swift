/// Whether `withObservationTracking` tracks reads, for objects that have an observation registrar of their own.
package enum ReadTracking {
    private static let probe = ObjectObservations()

    /// Whether reads are being tracked on the calling thread. It costs some nanoseconds and no key path.
    package static var isTracking: Bool { probe.isTracking }
}
