libcoremap_a_SOURCES += \
  core/learning/communities/groups.h \
  core/learning/communities/communities.h core/learning/communities/communities.c \
  core/learning/communities/fit.h core/learning/communities/fit.c core/learning/communities/join.c \
  core/learning/communities/processors.h core/learning/communities/processors.c \
  core/learning/communities/share.c \
  core/learning/assign.h core/learning/assign.c \
  core/learning/multicast.h core/learning/multicast.c core/learning/reward.h core/learning/reward.c \
  core/learning/reward_state.h core/learning/reward_loss.c \
  core/learning/reward_refine.c core/learning/deadlock.h core/learning/deadlock.c
libcoremap_a_SOURCES += \
  core/learning/policy/features.h core/learning/policy/features.c \
  core/learning/policy/laplacian.h core/learning/policy/laplacian.c \
  core/learning/policy/shape.h core/learning/policy/convolutions.h core/learning/policy/convolutions.c \
  core/learning/policy/policy.h core/learning/policy/policy.c core/learning/policy/policy_file.c \
  core/learning/policy/letter_numbers.h core/learning/policy/letter_numbers.c core/learning/policy/pilot_network.h core/learning/policy/pilot_network.c \
  core/learning/policy/parameters.h core/learning/policy/parameters.c core/learning/policy/shipped.h \
  core/learning/policy/checksummed_file.h core/learning/policy/checksummed_file.c \
  core/learning/agent/environment.h core/learning/agent/environment.c core/learning/agent/trade.h core/learning/agent/site_preferences.c core/learning/agent/first_layout.c \
  core/learning/agent/agent.h core/learning/agent/agent.c \
  core/learning/agent/placement_refinement.h core/learning/agent/placement_refinement.c core/learning/agent/swap_refinement.h core/learning/agent/swap_refinement.c \
  core/learning/pilot/pilot.h core/learning/pilot/pilot.c core/learning/training/pilot_flights.c \
  core/learning/letter/letter.h core/learning/letter/letter.c \
  core/learning/letter/letter_place.c core/learning/letter/places.c core/learning/letter/seats.h core/learning/letter/seats.c \
  core/learning/letter/full_letter.h core/learning/letter/full_letter.c \
  core/learning/training/adam.h core/learning/training/adam.c \
  core/learning/training/letter_tuning.h core/learning/training/letter_tuning.c \
  core/learning/training/examples.h core/learning/training/examples.c \
  core/learning/training/letter_episode.c core/learning/training/state.h core/learning/training/sights.c \
  core/learning/training/checkpoint.c \
  core/learning/training/episode.h core/learning/training/episode.c \
  core/learning/training/train.h core/learning/training/train.c core/learning/training/curve_file.c
nodist_libcoremap_a_SOURCES += core/learning/policy/shipped.c

# The policies that ship, with their cards, as files and inside the library in the order of cm_shipped_policy.
SHIPPED_POLICIES = share/policies/default.policy share/policies/letter-shared.policy share/policies/letter-plane.policy \
  share/policies/pilot.policy
policiesdir = $(pkgdatadir)/policies
dist_policies_DATA = $(SHIPPED_POLICIES) share/policies/default.md share/policies/default.csv share/policies/default.svg \
  share/policies/letter.md share/policies/letter-shared.csv share/policies/letter-shared.svg \
  share/policies/letter-plane.csv share/policies/letter-plane.svg \
  share/policies/pilot.md share/policies/pilot.csv share/policies/pilot.svg

EXTRA_DIST += core/learning/policy/bytes.awk share/policies/graphs
CLEANFILES += core/learning/policy/shipped.c core/learning/policy/shipped.0 core/learning/policy/shipped.1 \
  core/learning/policy/shipped.2 core/learning/policy/shipped.3
core/learning/policy/shipped.c: $(SHIPPED_POLICIES) core/learning/policy/bytes.awk
	$(AM_V_GEN)$(MKDIR_P) core/learning/policy && i=0 && files='' && \
	for policy in $(SHIPPED_POLICIES); do \
	  od -An -v -tu1 $(srcdir)/$$policy > core/learning/policy/shipped.$$i || exit 1; \
	  files="$$files core/learning/policy/shipped.$$i"; i=`expr $$i + 1`; \
	done && $(AWK) -f $(srcdir)/core/learning/policy/bytes.awk $$files > $@.new && mv $@.new $@
