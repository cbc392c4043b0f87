// A publisher that Apple's Combine has and OpenCombine lacks: what collects elements for a while.
#if OpenCombine
    import Foundation
    import OpenCombine

    extension Publishers {
        /// When collected elements are published.
        public enum TimeGroupingStrategy<Context: Scheduler> {
            /// After each period.
            case byTime(Context, Context.SchedulerTimeType.Stride)
            /// After each period, and before that when there are so many.
            case byTimeOrCount(Context, Context.SchedulerTimeType.Stride, Int)

            fileprivate var context: Context {
                switch self {
                case .byTime(let context, _), .byTimeOrCount(let context, _, _): context
                }
            }

            fileprivate var period: Context.SchedulerTimeType.Stride {
                switch self {
                case .byTime(_, let period), .byTimeOrCount(_, let period, _): period
                }
            }

            fileprivate var most: Int {
                switch self {
                case .byTime: .max
                case .byTimeOrCount(_, _, let count): max(1, count)
                }
            }
        }

        /// Collects elements and publishes them in arrays, as the strategy says; what is left is published with the
        /// end.
        ///
        /// The demand to upstream is unlimited. An array without a demand is kept, and grows until there is one.
        public struct CollectByTime<Upstream: Publisher, Context: Scheduler>: Publisher {
            public typealias Output = [Upstream.Output]
            public typealias Failure = Upstream.Failure

            /// The publisher whose elements are collected.
            public let upstream: Upstream
            /// When they are published.
            public let strategy: TimeGroupingStrategy<Context>
            /// The scheduler's options.
            public let options: Context.SchedulerOptions?

            /// Collects the elements of a publisher.
            public init(
                upstream: Upstream, strategy: TimeGroupingStrategy<Context>, options: Context.SchedulerOptions?
            ) {
                (self.upstream, self.strategy, self.options) = (upstream, strategy, options)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                upstream.subscribe(Collector(subscriber, strategy, options))
            }
        }

        private final class Collector<Element, Downstream: Subscriber, Context: Scheduler>: Subscriber, Subscription
        where Downstream.Input == [Element] {
            typealias Input = Element
            typealias Failure = Downstream.Failure

            // The lock guards what follows.
            private let lock = NSRecursiveLock()
            private var downstream: Downstream?
            private var upstream: (any Subscription)?
            private var timer: (any Cancellable)?
            private var elements: [Element] = []
            private var demand = Subscribers.Demand.none
            private let strategy: TimeGroupingStrategy<Context>
            private let options: Context.SchedulerOptions?

            init(
                _ downstream: Downstream, _ strategy: TimeGroupingStrategy<Context>,
                _ options: Context.SchedulerOptions?
            ) {
                (self.downstream, self.strategy, self.options) = (downstream, strategy, options)
            }

            func receive(subscription: any Subscription) {
                let context = strategy.context
                lock.lock()
                upstream = subscription
                timer = context.schedule(
                    after: context.now.advanced(by: strategy.period), interval: strategy.period,
                    tolerance: context.minimumTolerance, options: options
                ) { [weak self] in self?.publish() }
                let downstream = downstream
                lock.unlock()
                downstream?.receive(subscription: self)
                subscription.request(.unlimited)
            }

            func receive(_ input: Element) -> Subscribers.Demand {
                lock.lock()
                elements.append(input)
                let isFull = elements.count >= strategy.most
                lock.unlock()
                if isFull { publish() }
                return .none
            }

            func receive(completion: Subscribers.Completion<Failure>) {
                lock.lock()
                let (downstream, rest) = (downstream, elements)
                let mayPublish = demand > 0
                end()
                lock.unlock()
                strategy.context.schedule(options: options) {
                    if case .finished = completion, !rest.isEmpty, mayPublish { _ = downstream?.receive(rest) }
                    downstream?.receive(completion: completion)
                }
            }

            private func publish() {
                lock.lock()
                guard let downstream, !elements.isEmpty, demand > 0 else { return lock.unlock() }
                let published = elements
                elements = []
                demand -= 1
                lock.unlock()
                let more = downstream.receive(published)
                lock.lock()
                demand += more
                lock.unlock()
            }

            func request(_ demand: Subscribers.Demand) {
                lock.lock()
                self.demand += demand
                lock.unlock()
            }

            func cancel() {
                lock.lock()
                let upstream = upstream
                end()
                lock.unlock()
                upstream?.cancel()
            }

            private func end() {
                timer?.cancel()
                (downstream, upstream, timer, elements) = (nil, nil, nil, [])
            }
        }
    }

    extension Publisher {
        /// Collects elements and publishes them in arrays, as the strategy says.
        public func collect<S: Scheduler>(
            _ strategy: Publishers.TimeGroupingStrategy<S>, options: S.SchedulerOptions? = nil
        ) -> Publishers.CollectByTime<Self, S> {
            Publishers.CollectByTime(upstream: self, strategy: strategy, options: options)
        }
    }
#endif
